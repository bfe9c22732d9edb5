package io.rowlock.examples.orders.demo;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The lines of a stream as bytes, without the LF that ends them. A line over the limit is cut, so that no file can fill
 * the memory with one line. For one thread.
 */
final class LineReader {
    private final InputStream input;
    private final int limit;
    private final ByteArrayOutputStream content = new ByteArrayOutputStream(512);
    private int number;
    private boolean tooLong;
    private boolean ended;

    LineReader(InputStream input, int limit) {
        this.input = new BufferedInputStream(input);
        this.limit = limit;
    }

    /** Goes to the next line; false after the last. */
    boolean next() throws IOException {
        if (ended) {
            return false;
        }
        number++;
        content.reset();
        tooLong = false;
        int next;
        while ((next = input.read()) != '\n' && next != -1) {
            if (content.size() < limit) {
                content.write(next);
            } else {
                tooLong = true;
            }
        }
        ended = next == -1;
        return true;
    }

    /** The number of this line, from 1. */
    int number() {
        return number;
    }

    byte[] content() {
        return content.toByteArray();
    }

    /** Whether this line was longer than the limit. */
    boolean tooLong() {
        return tooLong;
    }
}
