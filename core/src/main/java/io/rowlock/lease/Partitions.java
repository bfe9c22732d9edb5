package io.rowlock.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;

/**
 * Work that is divided: so many parts, each a lease, shared by the processes that have joined. A member works on at most its fair
 * share, parts / members rounded up; what is above it when others join is drained: its task is told to end, and the part is
 * released when it has (so never with work in flight), or given up when the drain limit has passed: what the task writes late under
 * its fence is refused then, and a person is told by an alert. A part that nobody has taken for one time to live may be taken above the
 * share, and is kept for five of them. Members say that they live by rows that count them and prove nothing: a part of a
 * process that died is free when its own lease has run out. Safe for use by many threads.
 */
public interface Partitions {
    /** For how long a part may drain unless said otherwise: 5 min. */
    Duration DRAIN_LIMIT = Duration.ofMinutes(5);

    /**
     * Joins those who share the parts. A thread of its own says that this member lives, and takes and drains parts, three times in a
     * time to live and at least once a second. Members that were told another number of parts than the one who joined first of
     * those that live take nothing until those have left: a rolling deploy never has two divisions at once.
     *
     * @param name 1 to 150 characters, the same in all processes
     * @param parts 1 to 1,000: more than there will ever be members; changing it moves keys to other parts
     * @param task what to do on each part; called again whenever one is taken
     * @return to leave
     * @throws InvalidUseException if name or number are not allowed, or the task is null
     */
    PartitionMember join(String name, int parts, PartTask task);

    /**
     * The same partitions for those who join through the answer, with another limit to how long a part may drain: from when its
     * task was told to end, for whatever reason. When it has passed the lease is lost, the task's thread interrupted and the part
     * free for others, which get a new token; {@link io.rowlock.event.RowlockEvent.PartAbandoned} and an alert {@code part
     * abandoned} say so. It is given up by a process that still runs: one that dies or stands still loses its parts when their
     * time to live is over. A task that goes on all the same does nothing that the fence guards; what it does outside of the
     * database it may do beside the part's next holder, so the limit belongs above the longest unit of work.
     *
     * @param atMost 1 s to 1 day; {@link #DRAIN_LIMIT} by default
     * @return partitions that share their rows with these
     * @throws InvalidUseException if out of range
     */
    Partitions drainingWithin(Duration atMost);

    /**
     * A page of all partitions that have members, or had some when the last one died, in the order of their names as the
     * database sorts them. Waits for no lock.
     *
     * @param after the last name of the page before, or an empty text for the first page
     * @param most 1 to 100
     * @return at most so many; fewer: there are no more
     * @throws InvalidUseException if out of range
     * @throws DatabaseException if the server refused it
     */
    List<PartitionsView> all(String after, int most);

    /**
     * Who shares the parts, those who joined first first; also some that died and are not forgotten yet.
     *
     * @param name the partitions
     * @return at most 1,000; empty: nobody
     * @throws InvalidUseException if the name is not allowed
     * @throws DatabaseException if the server refused it
     */
    List<MemberView> members(String name);

    /**
     * The parts and who holds them, in their order.
     *
     * @param name the partitions
     * @return those that were ever taken, or looked at by a member; empty: none
     * @throws InvalidUseException if the name is not allowed
     * @throws DatabaseException if the server refused it
     */
    List<PartView> parts(String name);

    /**
     * The part of a key, the same in every process, version and language: the first 32 bits of the SHA-256 of its UTF-8, without a
     * sign, modulo the number of parts. In SQL: {@code ('x' || substr(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 1,
     * 8))::bit(32)::bigint % parts}.
     *
     * @param key the key
     * @param parts at least 1
     * @return 0 to parts - 1
     * @throws InvalidUseException if null or out of range
     */
    static int partOf(String key, int parts) {
        if (key == null || parts < 1) {
            throw new InvalidUseException("A part needs a key and at least 1 part, got " + key + ", " + parts);
        }
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return (int) (Integer.toUnsignedLong(ByteBuffer.wrap(hash).getInt()) % parts);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
