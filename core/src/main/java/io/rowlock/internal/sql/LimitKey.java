package io.rowlock.internal.sql;

/** The name of a limit over all workers: a limit key of a queue, or, with an empty text, the queue itself. */
public record LimitKey(String queue, String text) implements Comparable<LimitKey> {
    /** The limit of a queue itself. */
    public static LimitKey of(String queue) {
        return new LimitKey(queue, "");
    }

    /** In Java's order, the same for all workers, in which locks are taken. */
    @Override
    public int compareTo(LimitKey other) {
        int queues = queue.compareTo(other.queue);
        return queues != 0 ? queues : text.compareTo(other.text);
    }
}
