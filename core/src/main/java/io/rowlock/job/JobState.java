package io.rowlock.job;

import java.util.Locale;

/**
 * Where a job stands: the value of the column {@code state}. Being worked on is no state: a ready job with an owner is
 * leased. {@link #COMPLETED}, {@link #DEAD} and {@link #CANCELLED} are terminal.
 */
public enum JobState {
    /** Waits for its time or for a free worker, or is leased. */
    READY,
    /** Follows a busy ordering key or a full limit, out of the due index until promoted. */
    PARKED,
    /** Done. The row is deleted at once or after its retention. */
    COMPLETED,
    /** Used up its attempts or failed for good: a dead letter, kept until a person decides. */
    DEAD,
    /** Ended by a person or by the application. */
    CANCELLED;

    /**
     * The text of the column.
     *
     * @return the name in lower case
     */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The state of a column's text.
     *
     * @param text the column's value
     * @return the state
     * @throws IllegalArgumentException if no state has that text
     */
    public static JobState of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }

    /**
     * Whether nothing leaves this state by itself.
     *
     * @return true for completed, dead and cancelled
     */
    public boolean terminal() {
        return this == COMPLETED || this == DEAD || this == CANCELLED;
    }
}
