package io.rowlock.internal.alert;

import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import java.util.StringJoiner;

/** What a sink threw, without its words: what it was, where it was thrown, and what caused it. */
final class Wordless extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int DEEP = 10;

    private Wordless(String words) {
        super(words);
    }

    /** The same as far as it decides what follows. */
    static Exception of(String sink, Throwable thrown) {
        String words = words(sink, thrown);
        Exception without = thrown instanceof PermanentFailure
                ? new PermanentFailure(words)
                : thrown instanceof RetryAfter after ? new RetryAfter(after.delay(), words) : new Wordless(words);
        without.setStackTrace(thrown.getStackTrace());
        return without;
    }

    private static String words(String sink, Throwable thrown) {
        StringJoiner classes = new StringJoiner(", caused by ");
        Throwable each = thrown;
        for (int i = 0; i < DEEP && each != null; i++) {
            classes.add(each.getClass().getName());
            each = each.getCause();
        }
        return "Sink " + sink + " threw " + classes
                + "; what it said is not kept, as it may quote the alert: it is in the log of level DEBUG";
    }
}
