package io.rowlock.internal.sql;

/**
 * An ordering key in its queue. Compared in the order in which locks are taken.
 *
 * @param queue the queue
 * @param text the key
 */
public record OrderingKey(String queue, String text) implements Comparable<OrderingKey> {
    @Override
    public int compareTo(OrderingKey other) {
        int queues = queue.compareTo(other.queue);
        return queues != 0 ? queues : text.compareTo(other.text);
    }
}
