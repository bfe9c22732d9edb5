package io.rowlock.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.DedupMode;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Writers change a few things and enqueue a job for each change, deduplicated by thing, while workers run, fail and are
 * replaced. Whatever an enqueue was told, in the end a job has seen every change that was committed.
 */
@PostgresTest
@Tag("B40")
@Tag("P2")
final class DedupRandomIT {
    private static final int THINGS = 3;
    private static final int WRITERS = 3;
    private static final int CHANGES = 60;
    private static final List<DedupMode> MODES = List.of(DedupMode.KEEP, DedupMode.REPLACE, DedupMode.PUSH_BACK);

    @Kind("touch")
    private record Touch(int thing) {}

    private final TestSchema schema;
    private final long seed = System.nanoTime();
    private final Map<Integer, Long> seen = new ConcurrentHashMap<>();

    DedupRandomIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void no_change_is_lost_whatever_an_enqueue_was_told() throws Exception {
        System.out.println("seed " + seed);
        TestRowlock rowlock = TestRowlock.fresh(schema);
        schema.execute("CREATE TABLE change (thing integer, at timestamptz DEFAULT clock_timestamp())");
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try (Worker steady = rowlock.work(this::configure)) {
            List<Future<?>> writers = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                Random random = new Random(seed + writer);
                writers.add(threads.submit(() -> {
                    for (int i = 0; i < CHANGES; i++) {
                        change(rowlock, random);
                    }
                    return null;
                }));
            }
            while (writers.stream().anyMatch(writer -> !writer.isDone())) {
                try (Worker passing = rowlock.work(this::configure)) {
                    long before = rowlock.count(JobState.COMPLETED);
                    TestRowlock.soon()
                            .until(() -> writers.stream().allMatch(Future::isDone)
                                    || rowlock.count(JobState.COMPLETED) > before + 5);
                    passing.stop(Duration.ZERO);
                }
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            rowlock.awaitAllEnded();
            assertThat(steady.health().up()).isTrue();
        } finally {
            threads.shutdownNow();
        }

        for (int thing = 0; thing < THINGS; thing++) {
            assertThat(seen.get(thing)).as("thing " + thing).isEqualTo(changes(thing));
        }
        System.out.printf(
                "%d changes, %d jobs, %d retries, %d merged%n",
                schema.count("SELECT count(*) FROM change"),
                schema.count("SELECT count(*) FROM rowlock_job"),
                rowlock.events(JobRetried.class).size(),
                rowlock.events(JobMerged.class).size());
        assertThat(rowlock.count(JobState.DEAD)).isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE waiting_key IS NOT NULL"))
                .isZero();
        assertThat(rowlock.events(LoopFailed.class)).isEmpty();
    }

    private void configure(WorkerConfig worker) {
        worker.queue("default", 2)
                .handle(
                        Touch.class,
                        this::look,
                        h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(3)).maxAttempts(10_000)));
    }

    private void look(Touch touch, JobContext job) throws SQLException {
        long changes = changes(touch.thing());
        if ((job.id() * 31 + job.token()) % 3 == 0) {
            throw new IllegalStateException("fails at random");
        }
        seen.merge(touch.thing(), changes, Math::max);
    }

    private long changes(int thing) throws SQLException {
        return schema.count("SELECT count(*) FROM change WHERE thing = ?", thing);
    }

    private void change(TestRowlock rowlock, Random random) throws SQLException {
        int thing = random.nextInt(THINGS);
        DedupMode mode = MODES.get(random.nextInt(MODES.size()));
        try (Connection connection = schema.begin()) {
            Savepoint savepoint = connection.setSavepoint();
            if (random.nextInt(4) == 0) {
                write(rowlock, connection, thing, mode);
                connection.rollback(savepoint);
            }
            write(rowlock, connection, thing, mode);
            if (random.nextInt(4) > 0) {
                connection.commit();
            }
        }
    }

    private static void write(TestRowlock rowlock, Connection connection, int thing, DedupMode mode)
            throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO change (thing) VALUES (?)")) {
            insert.setInt(1, thing);
            insert.executeUpdate();
        }
        rowlock.rowlock().outbox().enqueue(connection, new Touch(thing), o -> o.dedupKey("thing-" + thing, mode));
    }
}
