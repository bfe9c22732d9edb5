package io.rowlock.lease;

/** A part that this process holds: nobody else works on it until the task has ended. Safe for use by many threads. */
public interface Part extends Term {
    /**
     * Which part.
     *
     * @return 0 to {@link #of} - 1
     */
    int number();

    /**
     * How many parts there are.
     *
     * @return at least 1
     */
    int of();

    /**
     * Whether a key belongs to this part.
     *
     * @param key the key
     * @return true if {@link Partitions#partOf} gives this part
     * @throws io.rowlock.error.InvalidUseException if null
     */
    default boolean owns(String key) {
        return Partitions.partOf(key, of()) == number();
    }
}
