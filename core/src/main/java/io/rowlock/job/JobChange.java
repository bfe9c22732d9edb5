package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.Set;

/** What is to be done to all jobs of a query, see {@link Jobs#changeAll}. */
public sealed interface JobChange {
    /**
     * The jobs it is for; others are passed over.
     *
     * @return the states in which it does something
     */
    Set<JobState> states();

    /** As {@link Jobs#cancel}. */
    record Cancel() implements JobChange {
        @Override
        public Set<JobState> states() {
            return Set.of(JobState.READY, JobState.PARKED);
        }
    }

    /** As {@link Jobs#revive}. */
    record Revive() implements JobChange {
        @Override
        public Set<JobState> states() {
            return Set.of(JobState.DEAD, JobState.CANCELLED);
        }
    }

    /** As {@link Jobs#delete}. */
    record Delete() implements JobChange {
        @Override
        public Set<JobState> states() {
            return Set.of(JobState.COMPLETED, JobState.DEAD, JobState.CANCELLED);
        }
    }

    /**
     * As {@link Jobs#reschedule}.
     *
     * @param at when they are to be due
     */
    record Reschedule(Instant at) implements JobChange {
        /**
         * Checks the time.
         *
         * @param at when they are to be due
         * @throws InvalidUseException if no job can have it
         */
        public Reschedule {
            new JobOptions().at(at);
        }

        @Override
        public Set<JobState> states() {
            return Set.of(JobState.READY, JobState.PARKED);
        }
    }

    /**
     * As {@link Jobs#move}.
     *
     * @param queue where they are to stand
     */
    record Move(String queue) implements JobChange {
        /**
         * Checks the name.
         *
         * @param queue where they are to stand
         * @throws InvalidUseException if no queue can have it
         */
        public Move {
            new JobOptions().queue(queue);
        }

        @Override
        public Set<JobState> states() {
            return Set.of(JobState.READY, JobState.PARKED);
        }
    }
}
