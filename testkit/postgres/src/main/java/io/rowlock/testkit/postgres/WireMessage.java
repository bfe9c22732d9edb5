package io.rowlock.testkit.postgres;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One message of PostgreSQL's protocol (its manual, chapter "Message Formats"): a type byte, a length that counts
 * itself, a body. The first message of a client has no type byte; here its type is {@link #STARTUP}.
 */
final class WireMessage {

    static final char STARTUP = 0;
    static final char QUERY = 'Q';
    static final char PARSE = 'P';
    static final char BIND = 'B';
    static final char SYNC = 'S';
    static final char FUNCTION_CALL = 'F';
    static final char READY_FOR_QUERY = 'Z';

    private static final int CANCEL_REQUEST = 80877102;
    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;
    private static final int LENGTH_BYTES = 4;
    private static final int LONGEST = 1 << 30;

    private final char type;
    private final byte[] bytes;
    private final int body;

    private WireMessage(char type, byte[] bytes, int body) {
        this.type = type;
        this.bytes = bytes;
        this.body = body;
    }

    /** The next message with a type, or null at the end of the stream. */
    static @Nullable WireMessage read(DataInputStream in) throws IOException {
        int type = in.read();
        return type < 0 ? null : rest(in, (char) type, 1);
    }

    /** The next message without a type, or null at the end of the stream. */
    static @Nullable WireMessage readStartup(DataInputStream in) throws IOException {
        try {
            return rest(in, STARTUP, 0);
        } catch (EOFException e) {
            return null;
        }
    }

    private static WireMessage rest(DataInputStream in, char type, int typeBytes) throws IOException {
        int length = in.readInt();
        if (length < LENGTH_BYTES || length > LONGEST) {
            throw new IOException("Not PostgreSQL's protocol: a message of " + length + " bytes");
        }
        byte[] bytes = new byte[typeBytes + length];
        if (typeBytes == 1) {
            bytes[0] = (byte) type;
        }
        ByteBuffer.wrap(bytes).putInt(typeBytes, length);
        int body = typeBytes + LENGTH_BYTES;
        in.readFully(bytes, body, bytes.length - body);
        return new WireMessage(type, bytes, body);
    }

    char type() {
        return type;
    }

    byte[] bytes() {
        return bytes;
    }

    boolean asksForEncryption() {
        return isStartup(SSL_REQUEST) || isStartup(GSS_REQUEST);
    }

    boolean asksForCancel() {
        return isStartup(CANCEL_REQUEST);
    }

    /** Whether the server will answer it with one ReadyForQuery. */
    boolean isAnsweredByReady() {
        return type == QUERY
                || type == SYNC
                || type == FUNCTION_CALL
                || (type == STARTUP && !asksForEncryption() && !asksForCancel());
    }

    /** The zero-terminated text that follows {@code skip} others from the start of the body. */
    String text(int skip) {
        int start = body;
        for (int i = 0; i < skip; i++) {
            start = end(start) + 1;
        }
        return start >= bytes.length ? "" : new String(bytes, start, end(start) - start, StandardCharsets.UTF_8);
    }

    private int end(int start) {
        int end = start;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return end;
    }

    private boolean isStartup(int code) {
        return type == STARTUP
                && bytes.length >= body + 4
                && ByteBuffer.wrap(bytes).getInt(body) == code;
    }
}
