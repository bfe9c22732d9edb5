package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Decides what becomes of an attempt that threw or took too long. */
final class Verdicts {
    private static final int MAX_MESSAGE = 2_000;
    private static final int MAX_STACK = 8_000;
    private static final int MAX_CLASS = 200;
    private static final Duration SOON = Duration.ofSeconds(1);

    private Verdicts() {}

    static Outcome onThrow(LeasedJob job, Throwable thrown) {
        if (thrown instanceof Snooze snooze) {
            return new PutBack(snooze.delay(), true);
        }
        if (thrown instanceof RowBusyException) {
            return new PutBack(SOON, true);
        }
        RetryPolicy policy = job.binding().settings().retry();
        if (!policy.retries(thrown) || job.lastAttempt()) {
            return new Died(failure(thrown));
        }
        Duration delay = thrown instanceof RetryAfter after
                ? after.delay()
                : policy.delay(job.row().turn().attempt(), thrown);
        return new Retried(delay, false, failure(thrown));
    }

    static Outcome onTimeout(LeasedJob job, Duration timeout) {
        Failure failure = new Failure("timed out", "the handler took longer than its timeout of " + timeout, "");
        TimedOut cause = new TimedOut(timeout);
        RetryPolicy policy = job.binding().settings().retry();
        if (!policy.retries(cause) || job.lastAttempt()) {
            return new Died(failure);
        }
        return new Retried(policy.delay(job.row().turn().attempt(), cause), true, failure);
    }

    /** What a retry policy is asked about when an attempt timed out. */
    private static final class TimedOut extends java.util.concurrent.TimeoutException {
        private static final long serialVersionUID = 1L;

        TimedOut(Duration timeout) {
            super("the handler took longer than its timeout of " + timeout);
        }
    }

    static Failure failure(Throwable thrown) {
        StringWriter stack = new StringWriter();
        try {
            thrown.printStackTrace(new PrintWriter(stack));
        } catch (Throwable unprintable) { // whatever it is: the attempt must have an outcome
            stack.append("(the stack trace could not be printed)");
        }
        return new Failure(
                cut(thrown.getClass().getName(), MAX_CLASS),
                cut(message(thrown), MAX_MESSAGE),
                cut(stack.toString(), MAX_STACK));
    }

    private static String message(Throwable thrown) {
        try {
            String message = thrown.getMessage();
            return message == null || message.isBlank() ? name(thrown) : message;
        } catch (Throwable unreadable) {
            return name(thrown);
        }
    }

    /** An anonymous class has no simple name. */
    private static String name(Throwable thrown) {
        String simple = thrown.getClass().getSimpleName();
        return simple.isEmpty() ? thrown.getClass().getName() : simple;
    }

    /** At most so many characters, and only such as PostgreSQL stores: NUL and lone surrogates become U+FFFD. */
    static String cut(@Nullable String text, int most) {
        if (text == null) {
            return "";
        }
        StringBuilder storable = new StringBuilder(Math.min(text.length(), most));
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            if (storable.length() + Character.charCount(point) > most) {
                break;
            }
            boolean unstorable = point == 0 || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
            storable.appendCodePoint(unstorable ? 0xFFFD : point);
            i += Character.charCount(point);
        }
        return storable.toString();
    }
}
