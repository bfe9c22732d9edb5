package io.rowlock.internal.engine;

import io.rowlock.worker.HandlerBinding;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How many more jobs the worker may claim, per queue and per handler. A slot is taken by the claim and freed when the
 * handler's thread ends, once (promise P3).
 *
 * <p>Where handlers are quick, a queue may hold more jobs than it runs at once, so that its threads need not wait for a
 * claim: as many as they would do in 100 ms, by the mean time of the last ones. Handlers with a limit of their own are
 * never claimed ahead.
 */
final class Slots {
    private static final int MOST_AHEAD = 500;

    /** So that one claim's answer, payloads included, stays within what a heap can hold (promise P14). */
    private static final int MOST_AT_ONCE = 1_000;

    private static final double AHEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double WEIGHT = 0.05;

    private final Map<String, Queue> queues = new HashMap<>();
    private final Map<HandlerBinding<?>, Integer> taken = new HashMap<>();
    private int suspects;

    Slots(Map<String, Integer> concurrency) {
        concurrency.forEach((queue, most) -> queues.put(queue, new Queue(most)));
    }

    private static final class Queue {
        private final int configured;
        private int concurrency;
        private int taken;
        private double meanNanos = Double.POSITIVE_INFINITY;

        Queue(int concurrency) {
            this.configured = concurrency;
            this.concurrency = concurrency;
        }

        int ahead() {
            return (int) Math.min(MOST_AHEAD, concurrency * (AHEAD_NANOS / Math.max(meanNanos, 1)));
        }

        int free() {
            return Math.max(0, concurrency + ahead() - taken);
        }

        /** Whether a claim now is worth its round trip: a thread has nothing to do, or half of the reserve is used up. */
        boolean worthClaiming() {
            return taken < concurrency || free() * 2 >= concurrency + ahead();
        }
    }

    /** How many jobs each queue may take; queues with none, or too few to be worth a claim, are left out. */
    synchronized Map<String, Integer> free() {
        Map<String, Integer> free = new HashMap<>();
        queues.forEach((name, queue) -> {
            if (queue.free() > 0 && queue.worthClaiming()) {
                free.put(name, Math.min(queue.free(), MOST_AT_ONCE));
            }
        });
        return free;
    }

    /** Whether no slot is taken. */
    synchronized boolean allFree() {
        return queues.values().stream().allMatch(queue -> queue.taken == 0);
    }

    /** How many handlers of a queue the worker would run at once if nothing else held it back. */
    synchronized int configured(String name) {
        return queue(name).configured;
    }

    /** Runs at most so many handlers of a queue at once from now on. */
    synchronized void concurrency(String name, int most) {
        queue(name).concurrency = most;
    }

    /** How many slots of a queue are taken. */
    synchronized int taken(String name) {
        return queue(name).taken;
    }

    /** How many jobs of a handler may be taken, the queue aside. */
    synchronized int free(HandlerBinding<?> binding) {
        Integer most = binding.settings().concurrency();
        return most == null ? Integer.MAX_VALUE : Math.max(0, most - taken.getOrDefault(binding, 0));
    }

    /** Whether a suspect may be claimed: none is here now, nor one whose outcome is not recorded yet. */
    synchronized boolean freeForSuspect() {
        return suspects == 0;
    }

    /** How many jobs of a queue one slot does within 100 ms, by the mean time of the last ones; at least one. */
    synchronized int quickOnes(String name) {
        Queue queue = queues.get(name);
        return queue == null ? 1 : 1 + (int) Math.min(MOST_AHEAD, AHEAD_NANOS / Math.max(queue.meanNanos, 1));
    }

    synchronized void take(Run run) {
        LeasedJob job = run.first();
        queue(job).taken++;
        taken.merge(job.binding(), 1, Integer::sum);
        suspects += job.suspect() ? 1 : 0;
    }

    /** Frees the slot; true if the queue is worth claiming for. */
    synchronized boolean release(Run run) {
        LeasedJob job = run.first();
        Queue queue = queue(job);
        queue.taken--;
        taken.merge(job.binding(), -1, Integer::sum);
        return queue.worthClaiming() || job.binding().settings().concurrency() != null;
    }

    /** A suspect's outcome is recorded, or its lease is lost. */
    synchronized void suspectGone() {
        suspects--;
    }

    /** Notes how long a handler ran. */
    synchronized void ran(LeasedJob job, long nanos) {
        Queue queue = queue(job);
        queue.meanNanos = Double.isInfinite(queue.meanNanos) ? nanos : queue.meanNanos * (1 - WEIGHT) + nanos * WEIGHT;
    }

    private Queue queue(LeasedJob job) {
        return queue(job.row().lane().queue());
    }

    private Queue queue(String name) {
        Queue queue = queues.get(name);
        if (queue == null) {
            throw new IllegalStateException("This queue is not served (queue=" + name + ")");
        }
        return queue;
    }
}
