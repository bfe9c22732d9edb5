package io.rowlock.benchmark.load;

import io.rowlock.job.Kind;

/** A payload of about forty bytes. */
@Kind("noop")
public record Noop(long number, String text) {
    private static final String TEXT = "0123456789abcdef";

    static Noop of(long number) {
        return new Noop(number, TEXT);
    }
}
