package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.fault.Task.End;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobRequest;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Keys whose jobs return, throw, snooze, die and are cancelled, in workers that are killed, ended and stopped past their
 * leases. What counts of each job is its run under its highest token.
 */
@PostgresTest
@Tag("P11")
@Tag("P2")
@Tag("B43")
final class OrderUnderFaultsIT {
    private static final int WORKERS = 3;
    private static final int KEYS = 12;
    private static final int EACH = 8;
    private static final int ROUNDS = 8;

    private final TestSchema schema;
    private final List<ChildJvm> children = new ArrayList<>();
    private final List<ChildJvm> gone = new ArrayList<>();
    private Scene scene;
    private Rowlock rowlock;
    private int launched;

    OrderUnderFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        schema.execute("ALTER TABLE ended ADD COLUMN IF NOT EXISTS at timestamptz DEFAULT clock_timestamp()");
    }

    @AfterEach
    void end() throws SQLException {
        children.forEach(ChildJvm::close);
        gone.forEach(ChildJvm::close);
        scene.close();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {11, 20261130})
    void jobs_of_a_key_run_one_at_a_time_in_order_each_to_one_end(long seed) throws Exception {
        rowlock.queues().deadHead("default", DeadHead.PASS);
        Random random = new Random(seed);
        for (int i = 0; i < WORKERS; i++) {
            children.add(launch());
        }
        ChildWorker.awaitStarted(children.get(0));
        for (int round = 0; round < ROUNDS; round++) {
            for (int key = 0; key < KEYS; key++) {
                enqueueSome("key-" + key, random);
            }
            ChildJvm victim = children.get(random.nextInt(WORKERS));
            switch (random.nextInt(3)) {
                case 0 -> replaceKilled(victim);
                case 1 -> victim.pause();
                default -> victim.resume();
            }
            cancelOne(random);
            awaitSomeDone();
        }
        children.forEach(ChildJvm::resume);
        Scene.patiently().until(() -> scene.count("state IN ('ready', 'parked')") == 0);
        assertInvariants();
        Scene.patiently().until(() -> schema.count("SELECT count(*) FROM rowlock_key") == 0);
    }

    private void replaceKilled(ChildJvm victim) {
        victim.kill();
        gone.add(victim);
        children.set(children.indexOf(victim), launch());
    }

    private ChildJvm launch() {
        return ChildWorker.launch(
                schema,
                "worker-" + ++launched,
                options -> options.graceAtExit(Duration.ofMillis(200)).concurrency(4));
    }

    private void enqueueSome(String key, Random random) throws SQLException {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            Task task = switch (random.nextInt(10)) {
                case 0 -> Task.quick(key).then(End.THROW, 1);
                case 1 -> Task.quick(key).then(End.SNOOZE, 1);
                case 2 -> Task.quick(key).then(End.FAIL_FOR_GOOD);
                default -> Task.quick(key);
            };
            requests.add(JobRequest.of(task, options -> options.orderingKey(key)));
        }
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueueAll(connection, requests);
            connection.commit();
        }
    }

    private void cancelOne(Random random) throws SQLException {
        List<Long> waiting =
                schema.list(Long.class, "SELECT id FROM rowlock_job WHERE state IN ('ready', 'parked') ORDER BY id");
        if (!waiting.isEmpty()) {
            long id = waiting.get(random.nextInt(waiting.size()));
            try {
                rowlock.jobs().cancel(id, new By("chance", "to see what happens"));
            } catch (DatabaseException heldByAStoppedProcess) {
                assertThat(heldByAStoppedProcess).hasMessageContaining("try again later");
            }
        }
    }

    /** Goes on when half of what was enqueued so far has ended. */
    private void awaitSomeDone() {
        Scene.patiently()
                .until(() -> scene.count("state IN ('ready', 'parked')") <= scene.count("finished_at IS NOT NULL"));
    }

    private void assertInvariants() throws SQLException {
        assertThat(scene.count("true")).isEqualTo((long) KEYS * EACH * ROUNDS);
        assertThat(scene.count("locked_by IS NOT NULL")).isZero();
        assertThat(schema.list(String.class, RUNS + """
                        SELECT before.ordering_key || ': ' || after.id || ' began at ' || after.began || ' though '
                               || before.id || ' ran from ' || before.began || ' to ' || coalesce(before.ended, before.began)
                        FROM run before JOIN run after
                          ON after.ordering_key = before.ordering_key AND after.n = before.n + 1
                        WHERE after.began < coalesce(before.ended, before.began)
                        """)).isEmpty();
        assertThat(scene.count("state = 'completed' AND NOT EXISTS (SELECT FROM ended e WHERE e.job_id = id)"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM (SELECT job_id, token FROM started GROUP BY 1, 2"
                        + " HAVING count(*) > 1) AS twice"))
                .isZero();
    }

    /** Of each job that completed or died, its run under the highest token, numbered within the key. */
    private static final String RUNS = """
            WITH last AS (
              SELECT DISTINCT ON (job_id) job_id, token, attempt, who, at FROM started ORDER BY job_id, token DESC),
            run AS (
              SELECT j.id, j.ordering_key, last.at AS began,
                     (SELECT min(e.at) FROM ended e
                      WHERE e.job_id = j.id AND e.attempt = last.attempt AND e.who = last.who) AS ended,
                     row_number() OVER (PARTITION BY j.ordering_key ORDER BY j.id) AS n
              FROM rowlock_job j JOIN last ON last.job_id = j.id
              WHERE j.state IN ('completed', 'dead'))
            """;
}
