package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.KeyedClaimSql.Candidate;
import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.OrderingKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which due jobs a round looks at: the queues in turn, the levels of priority by their shares, within a level the lanes
 * in turn. So that however many keys of one lane are due, some of every other are looked at too.
 */
final class DueKeys {
    private final Shares<String> shares;
    private final Limits limits;
    private final int most;
    private final Map<Lane, Integer> seen = new HashMap<>();
    private final Map<String, List<Due>> byQueue = new LinkedHashMap<>();

    /** @param most how many ordering keys, and how many limit keys, to look at */
    DueKeys(Shares<String> shares, Limits limits, int most) {
        this.shares = shares;
        this.limits = limits;
        this.most = most;
    }

    /** The due jobs of an ordering key, or one without; the lane of the first, and which of that lane it is. */
    record Due(@Nullable OrderingKey key, Lane lane, int place, List<Candidate> jobs) {
        int level() {
            return lane.key().priority();
        }
    }

    /** What a round looks at, in the order in which slots are theirs: by ordering key, and of which limit keys. */
    record Chosen(List<Due> order, Map<OrderingKey, List<Candidate>> byKey, Set<LimitKey> limits) {}

    /** Chooses from due jobs, given in the order of their lanes. */
    Chosen choose(List<Candidate> jobs, List<Lane> lanes, Set<OrderingKey> avoided) {
        Map<OrderingKey, Due> all = new LinkedHashMap<>();
        for (Candidate job : jobs) {
            OrderingKey key = job.key();
            Lane lane = lanes.get(job.lane());
            if (key == null) {
                add(job.queue(), null, lane).jobs().add(job);
            } else if (!avoided.contains(key)) {
                all.computeIfAbsent(key, absent -> add(absent.queue(), absent, lane))
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
        Chosen chosen = new Chosen(new ArrayList<>(), new LinkedHashMap<>(), new HashSet<>());
        for (int i = 0; i < longest; i++) {
            for (List<Due> queue : queues) {
                if (i < queue.size()) {
                    choose(queue.get(i), chosen);
                }
            }
        }
        return chosen;
    }

    private void choose(Due due, Chosen chosen) {
        Set<LimitKey> limited = due.jobs().stream()
                .map(job -> limits.of(job.queue(), job.keys().limit()))
                .filter(limit -> limit != null && !chosen.limits().contains(limit))
                .collect(Collectors.toSet());
        boolean fits = (due.key() == null || chosen.byKey().size() < most)
                && (limited.isEmpty() || chosen.limits().size() < most);
        if (fits) {
            chosen.order().add(due);
            chosen.limits().addAll(limited);
            if (due.key() != null) {
                chosen.byKey().put(due.key(), due.jobs());
            }
        }
    }

    private Due add(String queue, @Nullable OrderingKey key, Lane lane) {
        Due due = new Due(key, lane, seen.merge(lane, 1, Integer::sum), new ArrayList<>());
        byQueue.computeIfAbsent(queue, each -> new ArrayList<>()).add(due);
        return due;
    }
}
