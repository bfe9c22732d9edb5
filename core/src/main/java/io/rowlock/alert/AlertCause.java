package io.rowlock.alert;

import java.util.Arrays;
import java.util.Optional;

/** Why a person is needed: all there are. A row of a newer version may have another, see {@link Alert#cause()}. */
public enum AlertCause {
    /** A job used up its attempts or failed for good. */
    JOB_DEAD("job dead"),
    /** A dead job holds back the others of its ordering key. */
    HEAD_DEAD("head of a key dead"),
    /** A saga cannot go on before a person acts. */
    SAGA_STUCK("saga stuck"),
    /** What would undo a step of a saga failed for good. */
    SAGA_COMPENSATION_FAILED("saga compensation failed"),
    /** A saga beyond its pivot goes on after its deadline. */
    SAGA_LATE("saga late"),
    /** A saga has waited for a signal for longer than it was to. */
    SAGA_WAITS_TOO_LONG("saga waits too long"),
    /** A signal reached a saga that cannot read it. */
    SAGA_SIGNAL_UNREADABLE("saga signal unreadable"),
    /** A saga is at a step that its definition does not have any more. */
    SAGA_STEP_UNKNOWN("saga unknown step"),
    /** Unfinished sagas have a version that a starting worker does not have. */
    SAGA_VERSION_MISSING("saga version missing"),
    /** A job of a kind that nobody seems to handle is due for too long. */
    UNKNOWN_KIND("unknown kind waiting"),
    /** A job that the worker handles is due for too long. */
    QUEUE_LAG("queue lag"),
    /** A schedule is due, and cannot fire. */
    SCHEDULE_NOT_FIRING("schedule not firing"),
    /** Something keeps an old snapshot of the database, so that dead rows pile up. */
    SNAPSHOT_PINNED("snapshot pinned"),
    /** A worker's clock is not the database's. */
    CLOCK_SKEW("clock skew"),
    /** Jobs of a kind lost their workers too often. */
    WORKER_LOST("worker lost too often"),
    /** Jobs write jobs that write jobs. */
    JOBS_IN_LOOP("jobs in a loop"),
    /** A part of partitions was given up, as its work had not ended in time after it was told to. */
    PART_ABANDONED("part abandoned");

    private final String text;

    AlertCause(String text) {
        this.text = text;
    }

    /**
     * What stands in the row.
     *
     * @return the column's text
     */
    public String text() {
        return text;
    }

    /**
     * The cause with this text.
     *
     * @param text the column's text
     * @return the cause, or empty for one of a newer version
     */
    public static Optional<AlertCause> of(String text) {
        return Arrays.stream(values()).filter(cause -> cause.text.equals(text)).findFirst();
    }
}
