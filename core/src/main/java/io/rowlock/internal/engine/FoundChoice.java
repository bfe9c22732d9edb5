package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.engine.Sweeper.Found;
import io.rowlock.worker.HandlerBinding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which of the jobs that sweeps found are claimed next: at most one suspect, and late ones as slots are free. The levels
 * of priority have their shares, as in other claims; within a level the lanes take turns. For the claimer's thread.
 */
final class FoundChoice {
    private final Slots slots;
    private final Shares<String> lateShares = new Shares<>();
    private final Shares<FoundChoice> suspectShares = new Shares<>();
    private final Map<Lane, Integer> lateTurns = new HashMap<>();
    private final Map<Lane, Integer> suspectTurns = new HashMap<>();
    private int turn;

    FoundChoice(Slots slots) {
        this.slots = slots;
    }

    /** Chooses from what was found, for so many free slots per queue. */
    List<Found> choose(List<Found> found, Map<String, Integer> free) {
        turn++;
        Room room = new Room(new HashMap<>(free));
        if (slots.freeForSuspect()) {
            List<Found> suspects = inTurn(found.stream().filter(Found::suspect).toList(), suspectTurns);
            suspectShares.give(this, suspects, FoundChoice::level, 1, row -> room.takes(row, suspectTurns));
        }
        Map<String, List<Found>> late = new LinkedHashMap<>();
        for (Found row : found) {
            if (!row.suspect()) {
                late.computeIfAbsent(row.lane().key().queue(), queue -> new ArrayList<>())
                        .add(row);
            }
        }
        late.forEach((queue, rows) -> lateShares.give(
                queue,
                inTurn(rows, lateTurns),
                FoundChoice::level,
                room.queues.getOrDefault(queue, 0),
                row -> room.takes(row, lateTurns)));
        return room.taken;
    }

    private static int level(Found row) {
        return row.lane().key().priority();
    }

    private static List<Found> inTurn(List<Found> rows, Map<Lane, Integer> turns) {
        return rows.stream()
                .sorted(Comparator.comparing(row -> turns.getOrDefault(row.lane(), 0)))
                .toList();
    }

    /** The free slots, and who takes them. */
    private final class Room {
        private final Map<String, Integer> queues;
        private final Map<HandlerBinding<?>, Integer> handlers = new HashMap<>();
        private final List<Found> taken = new ArrayList<>();

        Room(Map<String, Integer> queues) {
            this.queues = queues;
        }

        boolean takes(Found row, Map<Lane, Integer> turns) {
            String queue = row.lane().key().queue();
            HandlerBinding<?> handler = row.lane().binding();
            int inQueue = queues.getOrDefault(queue, 0);
            int inHandler = handlers.getOrDefault(handler, slots.free(handler));
            if (inQueue == 0 || inHandler == 0) {
                return false;
            }
            queues.put(queue, inQueue - 1);
            handlers.put(handler, inHandler - 1);
            turns.put(row.lane(), turn);
            return taken.add(row);
        }
    }
}
