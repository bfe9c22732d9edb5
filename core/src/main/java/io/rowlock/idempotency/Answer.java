package io.rowlock.idempotency;

/**
 * What a client is told, and how it came about. Immutable.
 *
 * @param value what it is told
 * @param source where that comes from
 * @param <T> what it is
 */
public record Answer<T>(T value, Source source) {
    /** Where an answer comes from. */
    public enum Source {
        /** The work has just run; it and its answer count once the caller commits. */
        EXECUTED,
        /** The work has run and was undone, as its answer does not last. */
        UNDONE,
        /** The work ran before, in a transaction that has committed; this is its answer. */
        REPLAYED
    }

    /**
     * Whether it was answered before: for a header that says so.
     *
     * @return true if the work has not run this time
     */
    public boolean replayed() {
        return source == Source.REPLAYED;
    }
}
