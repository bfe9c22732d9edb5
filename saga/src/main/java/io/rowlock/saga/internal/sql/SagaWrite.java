package io.rowlock.saga.internal.sql;

import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is to be recorded of one saga.
 *
 * @param driver under which lease
 * @param state JSON, or null if it has not changed
 * @param told whether it was told that its deadline is over
 * @param steps the rows that changed
 * @param consumed the signals that moved it
 * @param deed what becomes of its driver
 */
public record SagaWrite(
        Driver driver,
        SagaStatus status,
        @Nullable String state,
        Progress progress,
        boolean told,
        List<StepRow> steps,
        List<Consumed> consumed,
        DriverDeed deed) {
    public SagaWrite {
        steps = List.copyOf(steps);
        consumed = List.copyOf(consumed);
    }

    /**
     * The lease of a saga's driver.
     *
     * @param seen the record of the saga that it knows; null: that does not matter
     */
    public record Driver(
            String saga, long job, long token, @Nullable Instant seen) {
        /** The same, knowing that record. */
        public Driver knowing(Instant revision) {
            return new Driver(saga, job, token, revision);
        }
    }

    /** A signal and the step that it moved. */
    public record Consumed(long signal, String by) {}

    /** A row of a step, and whose. */
    public record StepOf(String saga, StepRow row) {}

    /** What becomes of a driver. */
    public sealed interface DriverDeed {
        /** As how often lost its row is to stand. */
        int losses();

        /** It stays with its worker, and its row as it is. */
        record Stay() implements DriverDeed {
            @Override
            public int losses() {
                return 0;
            }
        }

        /** It stays with its worker; its attempts start anew. */
        record GoOn(int losses) implements DriverDeed {}

        /**
         * It goes back.
         *
         * @param until not before this; null: at once
         */
        record PutBack(@Nullable Instant until, int losses) implements DriverDeed {}

        /** It is done; a saga that needs a person has none. */
        record End() implements DriverDeed {
            @Override
            public int losses() {
                return 0;
            }
        }
    }

    String id() {
        return driver.saga();
    }

    Stream<StepOf> stepsOf() {
        return steps.stream().map(row -> new StepOf(id(), row));
    }

    boolean keepsDriver() {
        return !(deed instanceof DriverDeed.End);
    }
}
