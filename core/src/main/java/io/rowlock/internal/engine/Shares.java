package io.rowlock.internal.engine;

import io.rowlock.job.Priority;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Deals slots to the levels of priority: of every sixteen, three to normal, one to low, the others to high. What a level
 * has no use for goes to the highest that has. So a flood of one level starves none below it.
 *
 * <p>The dealing goes on from claim to claim, for each owner (such as a queue) by itself: with one free slot at a time the
 * shares hold over sixteen claims, by count and not by chance. A weighted round-robin whose order is fixed. For one thread.
 */
final class Shares<K> {
    /** How many slots go round until the order begins again. */
    static final int ROUND = 16;

    private static final int NORMAL_EACH = 4;
    private static final int LEVELS = Priority.values().length;

    private final Map<K, Integer> dealt = new HashMap<>();

    /** The level whose turn the n-th slot is. */
    static int levelOf(int slot) {
        if (slot % ROUND == ROUND - 1) {
            return Priority.LOW.level();
        }
        return (slot % NORMAL_EACH == NORMAL_EACH - 1 ? Priority.NORMAL : Priority.HIGH).level();
    }

    /** Deals the next slots of an owner: how many each level has. */
    int[] next(K owner, int slots) {
        int from = dealt.getOrDefault(owner, 0);
        int[] perLevel = new int[LEVELS];
        for (int i = 0; i < slots; i++) {
            perLevel[levelOf(from + i)]++;
        }
        went(owner, slots);
        return perLevel;
    }

    /** Puts things into the order in which the next slots of an owner are theirs; keeps the order within each level. */
    <T> List<T> inOrder(K owner, List<T> things, ToIntFunction<T> level) {
        List<T> order = new ArrayList<>(things.size());
        choose(owner, things, level, things.size(), order::add);
        return order;
    }

    /** Gives the next slots of an owner to things that take one; keeps the order within each level. */
    <T> void give(K owner, List<T> things, ToIntFunction<T> level, int slots, Predicate<T> takes) {
        went(owner, choose(owner, things, level, slots, takes));
    }

    private <T> int choose(K owner, List<T> things, ToIntFunction<T> level, int slots, Predicate<T> takes) {
        List<Deque<T>> levels = new ArrayList<>();
        for (int i = 0; i < LEVELS; i++) {
            levels.add(new ArrayDeque<>());
        }
        things.forEach(thing -> levels.get(level.applyAsInt(thing)).add(thing));
        int from = dealt.getOrDefault(owner, 0);
        int given = 0;
        while (given < slots && takesOne(levels, levelOf(from + given), takes)) {
            given++;
        }
        return given;
    }

    private static <T> boolean takesOne(List<Deque<T>> levels, int first, Predicate<T> takes) {
        boolean taken = takesOne(levels.get(first), takes);
        for (int level = 0; !taken && level < levels.size(); level++) {
            taken = takesOne(levels.get(level), takes);
        }
        return taken;
    }

    private static <T> boolean takesOne(Deque<T> level, Predicate<T> takes) {
        boolean taken = false;
        while (!taken && !level.isEmpty()) {
            taken = takes.test(level.remove());
        }
        return taken;
    }

    private void went(K owner, int slots) {
        dealt.merge(owner, slots, (before, more) -> (before + more) % ROUND);
    }
}
