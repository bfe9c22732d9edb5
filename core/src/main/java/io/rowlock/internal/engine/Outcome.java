package io.rowlock.internal.engine;

import io.rowlock.internal.sql.OutcomeSql.Failure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What became of an attempt, to be recorded under the lease. */
sealed interface Outcome {
    /** Its cancel was asked for: back for longer than until somebody carries that out, so that it does not run again before. */
    PutBack UNTIL_CANCELLED = new PutBack(Duration.ofSeconds(5), true);

    /** The handler returned. */
    record Completed() implements Outcome {}

    /**
     * The handler's own transaction completed the job, or put it back for so long: only the lease is over. Where it turns out
     * that it did not commit, the outcome is the other; null: the handler returned, and the attempt has failed.
     */
    record RecordedByHandler(
            @Nullable Duration snoozed, @Nullable Outcome otherwise) implements Outcome {}

    /** It failed and is tried again after a delay, and not before the old lease would have ended where so said. */
    record Retried(Duration delay, boolean notBeforeLease, Failure failure) implements Outcome {}

    /** It failed for good; timed out: its thread may still run. */
    record Died(Failure failure, boolean timedOut) implements Outcome {}

    /** It goes back for later without having used the attempt. */
    record PutBack(Duration delay, boolean snoozed) implements Outcome {}
}
