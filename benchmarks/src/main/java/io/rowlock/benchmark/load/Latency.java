package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.Enqueued;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** From the commit of a job's transaction to the start of its handler, at a load that is far from the limit. */
public final class Latency {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Duration LOAD = Duration.ofSeconds(30);
    private static final int WARM_UP = 200;
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(1);
    private static final double MICROS = 1_000.0;
    private static final String SAME = "same JVM";
    private static final String TOLD = "other JVM with NOTIFY";
    private static final String POLLING = "other JVM polling at 1 s";

    private Latency() {}

    /** In the same process, told by another, found by polling. */
    public static Figure toHandler() {
        return new Figure(
                        "latency",
                        "From commit to the start of the handler, 100 jobs a second in transactions of their own",
                        "ms (p50)",
                        List.of(
                                new Contender(SAME, "wake() after each commit", Latency::sameProcess),
                                new Contender(
                                        TOLD,
                                        "notifications(true) on both sides, wake() after each commit",
                                        trial -> otherProcess(trial, true)),
                                new Contender(
                                        POLLING, "notifications off, poll 1 s", trial -> otherProcess(trial, false))),
                        List.of(
                                Reach.atMost(2, SAME),
                                Reach.atMost(10, SAME + " p99"),
                                Reach.atMost(10, TOLD),
                                Reach.atMost(50, TOLD + " p99"),
                                Reach.atMost(600, POLLING),
                                Reach.atMost(1_100, POLLING + " p99")),
                        "In one JVM: the claim's round trip and its commit, a wait for the disk. Between JVMs with NOTIFY: also the"
                                + " 10 ms within which commits are told together, and the two threads that tell and listen. Polling:"
                                + " the interval itself; what comes evenly waits half of it. The clock is the machine's, read when"
                                + " commit() has returned and when the handler begins; the first "
                                + WARM_UP + " jobs do not count.")
                .withoutWarmUp();
    }

    private static double sameProcess(Trial trial) throws Exception {
        Backlog backlog = Backlog.empty(trial);
        AtomicLongArray started = new AtomicLongArray(jobs(trial));
        Worker worker = backlog.rowlock()
                .worker(w -> w.queue("default", 8)
                        .keepCompleted(Duration.ZERO)
                        .handle(Noop.class, (payload, job) -> started.set((int) payload.number(), Micros.now())));
        worker.start();
        try {
            AtomicLongArray committed = send(trial, backlog.rowlock(), backlog.pool(), true);
            awaitAll(trial);
            return p50(trial, committed, started);
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static double otherProcess(Trial trial, boolean told) throws Exception {
        Backlog.empty(trial);
        DataSource pool = trial.pool(4);
        Rowlock rowlock = Rowlock.builder()
                .dataSource(pool)
                .schema(trial.schema().name())
                .notifications(told)
                .build();
        trial.schema().execute(StartedMain.TABLE);
        try (ChildJvm child = Children.start(trial, StartedMain.class, String.valueOf(told))) {
            child.awaitLine("ready", Duration.ofMinutes(1));
            AtomicLongArray committed = send(trial, rowlock, pool, told);
            awaitAll(trial);
            child.send("report");
            child.awaitLine("reported", Duration.ofMinutes(1));
            AtomicLongArray started = new AtomicLongArray(committed.length());
            trial.schema()
                    .rows("SELECT number, micros FROM started")
                    .forEach(row -> started.set(number(row.get("number")), micros(row.get("micros"))));
            return p50(trial, committed, started);
        }
    }

    /** At fixed times, however long one takes: when each transaction had committed. */
    private static AtomicLongArray send(Trial trial, Rowlock rowlock, DataSource pool, boolean wake) throws Exception {
        AtomicLongArray committed = new AtomicLongArray(jobs(trial));
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            long next = System.nanoTime();
            for (int number = 0; number < committed.length(); number++) {
                for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                next += PERIOD_NANOS;
                Enqueued written = rowlock.outbox().enqueue(connection, Noop.of(number));
                connection.commit();
                committed.set(number, Micros.now());
                if (wake) {
                    rowlock.wake(List.of(written));
                }
            }
        }
        return committed;
    }

    private static int jobs(Trial trial) {
        return WARM_UP + (int) (trial.lasting(LOAD).toNanos() / PERIOD_NANOS);
    }

    private static void awaitAll(Trial trial) throws Exception {
        Stopwatch.started().until(() -> RowlockDrain.unfinished(trial) == 0);
    }

    private static double p50(Trial trial, AtomicLongArray committed, AtomicLongArray started) {
        Histogram times = new Histogram(LONGEST_MICROS, 3);
        for (int i = WARM_UP; i < committed.length(); i++) {
            if (started.get(i) == 0) {
                throw new IllegalStateException("Job " + i + " is finished and has not begun");
            }
            long micros = started.get(i) - committed.get(i); // a handler may begin before commit() has returned
            times.recordValue(Math.min(Math.max(micros, 0), LONGEST_MICROS));
        }
        trial.recorded(times);
        trial.also("p99", times.getValueAtPercentile(99) / MICROS);
        trial.also("p99.9", times.getValueAtPercentile(99.9) / MICROS);
        trial.also("longest", times.getMaxValue() / MICROS);
        return times.getValueAtPercentile(50) / MICROS;
    }

    private static int number(@Nullable Object value) {
        return (int) micros(value);
    }

    private static long micros(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }
}
