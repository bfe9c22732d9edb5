package io.rowlock.worker;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a worker is. {@link #up()} is what a health endpoint should say.
 *
 * @param state where it stands
 * @param sinceClaim how long ago the last claim was answered by the database, or null if none was yet
 * @param running how many handlers run now
 * @param unrecorded how many outcomes wait to be written
 * @param loops the engine's loops that fail now, with the reason; empty when all is well
 */
public record WorkerHealth(
        State state, @Nullable Duration sinceClaim, int running, int unrecorded, List<FailingLoop> loops) {

    /** Where a worker stands. */
    public enum State {
        /** Made, not started. */
        NEW,
        /** Waits for the database. */
        STARTING,
        /** Claims and runs jobs. */
        RUNNING,
        /** Claims no more; lets handlers end. */
        STOPPING,
        /** Ended. */
        STOPPED
    }

    /**
     * A loop whose last try failed.
     *
     * @param loop its name: claimer, completer, heartbeat, pruner, scheduler
     * @param failures how often in a row
     * @param reason the last failure in one line
     */
    public record FailingLoop(String loop, int failures, String reason) {}

    public WorkerHealth {
        loops = List.copyOf(loops);
    }

    /**
     * Whether it does its work: running, and no loop fails.
     *
     * @return false while the database cannot be reached or used
     */
    public boolean up() {
        return state == State.RUNNING && loops.isEmpty();
    }
}
