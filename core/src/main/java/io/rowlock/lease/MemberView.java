package io.rowlock.lease;

import java.time.Instant;
import java.util.List;

/**
 * A member of partitions as its row was read.
 *
 * @param member who: the process as leases name it, and eight characters, as one process may join twice
 * @param parts of how many parts it was told
 * @param joinedAt when it joined, by the database's clock
 * @param livesUntil until when it counts, unless it says again that it lives; past: it counts no more
 * @param held the parts that its process holds, in their order
 */
public record MemberView(String member, int parts, Instant joinedAt, Instant livesUntil, List<Integer> held) {
    public MemberView {
        held = List.copyOf(held);
    }
}
