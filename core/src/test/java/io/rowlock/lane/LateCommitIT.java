package io.rowlock.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rows whose transactions commit late, and out of the order of their ids and times, are run all the same. */
@PostgresTest
@Tag("P2")
@Tag("B01")
class LateCommitIT {
    private static final Duration LONG = Duration.ofSeconds(90);

    @Kind("late")
    record Late(int n) {}

    private final TestSchema schema;
    private final Rowlock rowlock;
    private final Map<Integer, Integer> runs = new ConcurrentHashMap<>();
    private final List<Worker> workers = new ArrayList<>();

    LateCommitIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @BeforeEach
    void empty() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterEach
    void stop() {
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(5)));
    }

    private void startWorker() {
        startWorker(Duration.ofMillis(100));
    }

    private void startWorker(Duration poll) {
        Worker worker = rowlock.worker(w -> w.queue("default", 8)
                .poll(poll)
                .handle(Late.class, (late, job) -> runs.merge(late.n(), 1, Integer::sum)));
        worker.start();
        workers.add(worker);
    }

    @Test
    void a_lower_id_that_commits_after_a_higher_one_was_run_is_run_too() throws SQLException {
        startWorker();
        try (Connection first = schema.begin();
                Connection second = schema.begin()) {
            Enqueued early = rowlock.outbox().enqueue(first, new Late(1));
            Enqueued late = rowlock.outbox().enqueue(second, new Late(2));
            assertThat(early.id()).isLessThan(late.id());
            second.commit();
            await().atMost(LONG).until(() -> runs.containsKey(2));
            assertThat(runs).doesNotContainKey(1);
            first.commit();
        }
        await().atMost(LONG).until(() -> runs.containsKey(1));
        assertThat(runs).containsOnly(Map.entry(1, 1), Map.entry(2, 1));
    }

    @Test
    void a_row_far_behind_every_watermark_is_found_by_the_sweep() throws SQLException {
        startWorker();
        startWorker();
        enqueue(1);
        await().atMost(LONG).until(() -> runs.containsKey(1));
        try (Connection slow = schema.begin()) {
            rowlock.outbox().enqueue(slow, new Late(2));
            backDate(slow, "10 minutes"); // as if the transaction had been open so long
            enqueue(3);
            await().atMost(LONG).until(() -> runs.containsKey(3));
            slow.commit();
        }
        await().atMost(LONG).until(() -> runs.containsKey(2));
        assertThat(runs).containsOnly(Map.entry(1, 1), Map.entry(2, 1), Map.entry(3, 1));
    }

    @Test
    void a_row_that_commits_just_behind_the_watermark_does_not_wait_for_the_next_poll() throws SQLException {
        startWorker(Duration.ofHours(1));
        for (int n = 0; n < 60; n += 3) {
            try (Connection slow = schema.begin()) {
                rowlock.outbox().enqueue(slow, new Late(n));
                wakeFor(n + 1);
                slow.commit(); // and nobody tells of it
            }
            wakeFor(n + 2); // claims that follow closely do not all look back
            int late = n;
            await().atMost(LONG).pollInterval(Duration.ofMillis(1)).until(() -> runs.containsKey(late));
        }
        assertThat(runs).hasSize(60);
    }

    private void wakeFor(int n) throws SQLException {
        try (Connection connection = schema.begin()) {
            Enqueued written = rowlock.outbox().enqueue(connection, new Late(n));
            connection.commit();
            rowlock.wake(List.of(written));
        }
        await().atMost(LONG).pollInterval(Duration.ofMillis(1)).until(() -> runs.containsKey(n));
    }

    @Test
    void thousands_of_rows_behind_the_watermark_are_all_run() throws SQLException {
        startWorker();
        enqueue(0);
        await().atMost(LONG).until(() -> runs.containsKey(0));
        List<JobRequest<?>> many = new ArrayList<>();
        for (int n = 1; n <= 5_000; n++) {
            many.add(JobRequest.of(new Late(n)));
        }
        try (Connection bulk = schema.begin()) {
            rowlock.outbox().enqueueAll(bulk, many);
            backDate(bulk, "10 minutes");
            bulk.commit();
        }
        await().atMost(LONG).until(() -> runs.size() == 5_001);
        await().atMost(LONG).until(() -> rowlock.jobs().counts().get(JobState.READY) == 0);
        assertThat(runs.values()).containsOnly(1);
    }

    @Test
    void fifty_writers_that_commit_late_and_out_of_order_lose_no_job() throws Exception {
        long seed = System.nanoTime();
        System.out.println("LateCommitIT seed " + seed);
        startWorker();
        startWorker();
        int writers = 50;
        int perWriter = 20;
        ExecutorService pool = Executors.newFixedThreadPool(writers);
        List<Future<?>> ends = new ArrayList<>();
        for (int w = 0; w < writers; w++) {
            int writer = w;
            Random random = new Random(seed + w);
            ends.add(pool.submit(() -> write(writer, perWriter, random)));
        }
        for (Future<?> end : ends) {
            end.get(90, TimeUnit.SECONDS);
        }
        pool.shutdown();
        await().atMost(LONG).until(() -> rowlock.jobs().counts().get(JobState.READY) == 0);
        assertThat(runs).hasSize(writers * perWriter);
        assertThat(runs.values()).containsOnly(1);
        assertThat(rowlock.jobs().counts().get(JobState.COMPLETED)).isEqualTo((long) writers * perWriter);
    }

    private Void write(int writer, int jobs, Random random) throws SQLException, InterruptedException {
        int n = 0;
        while (n < jobs) {
            try (Connection connection = schema.begin()) {
                int together = Math.min(jobs - n, 1 + random.nextInt(4));
                for (int i = 0; i < together; i++) {
                    rowlock.outbox().enqueue(connection, new Late(writer * jobs + n + i));
                }
                hold(random.nextInt(500));
                if (random.nextInt(10) == 0) {
                    connection.rollback(); // written again by the next round
                } else {
                    connection.commit();
                    n += together;
                }
            }
        }
        return null;
    }

    /** Keeps the transaction open. */
    private static void hold(int millis) throws InterruptedException {
        assertThat(new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS)).isFalse();
    }

    private void enqueue(int n) throws SQLException {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Late(n));
            connection.commit();
        }
    }

    private static void backDate(Connection connection, String by) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("UPDATE rowlock_job SET run_at = run_at - interval '" + by
                    + "' WHERE xmin::text = pg_current_xact_id()::text");
        }
    }
}
