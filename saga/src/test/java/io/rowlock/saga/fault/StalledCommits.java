package io.rowlock.saga.fault;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Holds back one commit, of a transaction with a statement of some name; counts what is asked and committed. */
final class StalledCommits implements WatchedConnections.Watch {
    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> committed = new ConcurrentHashMap<>();
    private final AtomicReference<String> wanted = new AtomicReference<>("none");
    private final CountDownLatch stalled = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);

    /** Holds back the next such commit, once. */
    void stall(String statement) {
        wanted.set(statement);
    }

    void awaitStalled() {
        Scene.patiently().until(() -> stalled.getCount() == 0);
    }

    void letGo() {
        letGo.countDown();
    }

    /** Waits until a statement was asked for so many times more: somebody tries, and tries again. */
    void awaitAskedMore(String statement, int times) {
        int before = count(asked, statement);
        Scene.patiently().until(() -> count(asked, statement) >= before + times);
    }

    /** How many transactions with such a statement were committed. */
    int committed(String statement) {
        return count(committed, statement);
    }

    private static int count(Map<String, AtomicInteger> counts, String statement) {
        return counts.computeIfAbsent(statement, absent -> new AtomicInteger()).get();
    }

    @Override
    public void asked(String statement) {
        asked.computeIfAbsent(statement, absent -> new AtomicInteger()).incrementAndGet();
    }

    @Override
    public void beforeCommit(Set<String> statements) throws InterruptedException {
        String statement = wanted.get();
        if (statements.contains(statement) && wanted.compareAndSet(statement, "none")) {
            stalled.countDown();
            letGo.await();
        }
    }

    @Override
    public void afterCommit(Set<String> statements) {
        statements.forEach(each ->
                committed.computeIfAbsent(each, absent -> new AtomicInteger()).incrementAndGet());
    }
}
