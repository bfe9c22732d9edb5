package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.KeyedClaimSql.Candidate;
import io.rowlock.internal.sql.OrderingKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which ordering keys a round looks at: the queues in turn, the levels of priority by their shares, within a level the
 * lanes in turn. So that however many keys of one lane are due, some of every other are looked at too.
 */
final class DueKeys {
    private final Shares<String> shares;
    private final int most;
    private final Map<Lane, Integer> seen = new HashMap<>();
    private final Map<String, List<Due>> byQueue = new LinkedHashMap<>();

    /** @param most how many keys to look at */
    DueKeys(Shares<String> shares, int most) {
        this.shares = shares;
        this.most = most;
    }

    /** A key, the lane of its first due job, and which key of that lane it is. */
    private record Due(OrderingKey key, Lane lane, int place, List<Candidate> jobs) {
        int level() {
            return lane.key().priority();
        }
    }

    /** Chooses keys and gives their due jobs, in the order in which slots are theirs. */
    Map<OrderingKey, List<Candidate>> choose(List<Candidate> jobs, List<Lane> lanes, Set<OrderingKey> avoided) {
        Map<OrderingKey, Due> all = new LinkedHashMap<>();
        for (Candidate job : jobs) {
            if (!avoided.contains(job.key())) {
                all.computeIfAbsent(job.key(), key -> add(key, lanes.get(job.lane())))
                        .jobs()
                        .add(job);
            }
        }
        List<List<Due>> queues = new ArrayList<>();
        int longest = 0;
        for (Map.Entry<String, List<Due>> queue : byQueue.entrySet()) {
            queue.getValue().sort(Comparator.comparingInt(Due::place));
            List<Due> order = shares.inOrder(queue.getKey(), queue.getValue(), Due::level);
            queues.add(order);
            longest = Math.max(longest, order.size());
        }
        Map<OrderingKey, List<Candidate>> chosen = new LinkedHashMap<>();
        for (int i = 0; i < longest; i++) {
            for (List<Due> queue : queues) {
                if (i < queue.size() && chosen.size() < most) {
                    chosen.put(queue.get(i).key(), queue.get(i).jobs());
                }
            }
        }
        return chosen;
    }

    private Due add(OrderingKey key, Lane lane) {
        Due due = new Due(key, lane, seen.merge(lane, 1, Integer::sum), new ArrayList<>());
        byQueue.computeIfAbsent(key.queue(), queue -> new ArrayList<>()).add(due);
        return due;
    }
}
