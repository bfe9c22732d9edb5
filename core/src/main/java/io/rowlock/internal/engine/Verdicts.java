package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import java.time.Duration;

/** Decides what becomes of an attempt that threw or took too long. */
final class Verdicts {
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
            return new Died(Failures.failure(thrown), false);
        }
        Duration delay = thrown instanceof RetryAfter after
                ? after.delay()
                : policy.delay(job.row().turn().attempt(), thrown);
        return new Retried(delay, false, Failures.failure(thrown));
    }

    static Outcome onTimeout(LeasedJob job, Duration timeout) {
        Failure failure = new Failure("timed out", "the handler took longer than its timeout of " + timeout, "");
        TimedOut cause = new TimedOut(timeout);
        RetryPolicy policy = job.binding().settings().retry();
        if (!policy.retries(cause) || job.lastAttempt()) {
            return new Died(failure, true);
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
}
