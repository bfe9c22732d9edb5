package io.rowlock.job;

/**
 * How urgent a job is among the jobs of its queue. A higher level is claimed first; but of sixteen slots at least three go to
 * normal jobs and one to low ones, if such are due, so that a flood of high jobs starves nobody. The same holds inside a
 * limit key that is full, for each by itself: of sixteen of its places, with a limit of one of sixteen jobs in a row.
 */
public enum Priority {
    /** Before all others: level 0. */
    HIGH(0),
    /** The default: level 1. */
    NORMAL(1),
    /** After all others: level 2. */
    LOW(2);

    private final int level;

    Priority(int level) {
        this.level = level;
    }

    /**
     * The value of the column {@code priority}.
     *
     * @return 0 for the most urgent
     */
    public int level() {
        return level;
    }

    /**
     * The priority of a column's value.
     *
     * @param level the column's value, 0 to 2
     * @return the priority; values beyond the lowest count as the lowest
     */
    public static Priority ofLevel(int level) {
        return level <= HIGH.level ? HIGH : level == NORMAL.level ? NORMAL : LOW;
    }
}
