package io.rowlock.worker;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.CountedStatements;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a worker without work asks the database, and that it misses nothing by asking little. */
@PostgresTest
final class IdleIT {
    private static final int ROUNDS = 20;
    private static final int QUEUES = 10;

    @Kind("task")
    private record Task(int no) {}

    private final TestSchema schema;
    private final CountedStatements statements;
    private TestRowlock rowlock;
    private TestRowlock elsewhere;

    IdleIT(TestSchema schema) {
        this.schema = schema;
        this.statements = new CountedStatements(schema);
    }

    @BeforeEach
    void install() throws Exception {
        rowlock = TestRowlock.over(statements);
        elsewhere = TestRowlock.beside(schema);
    }

    @Test
    @Tag("P12")
    void idle_worker_with_ten_queues_asks_less_than_three_statements_a_poll() {
        try (Worker worker = rowlock.start(config -> {
            for (int i = 0; i < QUEUES; i++) {
                config.queue("queue-" + i, 10);
            }
            config.handle(Task.class, (task, job) -> {});
        })) {
            untilQuiet(ROUNDS);
            long rounds = statements.of("any-due", "claim");
            String asked = statements.byName() + ", transactions=" + statements.commits();
            System.out.printf("%d polls of an idle worker: %s%n", rounds, asked);
            assertThat(statements.of("any-due"))
                    .as("polls that are one look: %s", asked)
                    .isGreaterThan(rounds / 2);
            assertThat(statements.of("keyed-candidates", "walk", "walk-suspects", "walk-keyed"))
                    .as("none where a look has seen nothing: %s", asked)
                    .isLessThan(rounds);
            assertThat(statements.of("lock-watch"))
                    .as("looks of watchers, which come once a minute: %s", asked)
                    .isLessThanOrEqualTo(5);
            assertThat(statements.all() + 2 * statements.commits())
                    .as("all of them: %s", asked)
                    .isLessThan(3 * rounds);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void job_that_nobody_tells_of_is_found_by_an_idle_worker() throws Exception {
        try (Worker worker = idle()) {
            long plain = elsewhere.enqueue(new Task(1)).id();
            awaitCompleted(plain);
            untilQuiet(3);
            long keyed = elsewhere
                    .enqueue(new Task(2), options -> options.orderingKey("k"))
                    .id();
            awaitCompleted(keyed);
            untilQuiet(3);
            long late = elsewhere.enqueue(new Task(3)).id();
            schema.execute(
                    "UPDATE rowlock_job SET run_at = run_at - interval '1 day' WHERE state = 'ready' AND id = " + late);
            awaitCompleted(late);
            untilQuiet(3);
            long later = elsewhere
                    .enqueue(new Task(4), options -> options.after(Duration.ofMillis(300)))
                    .id();
            awaitCompleted(later);
            assertThat(worker.health().up()).isTrue();
        }
    }

    /** What a queue's limit lends slots for is counted from the watermarks: a look that saw nothing must not move them. */
    @Test
    @Tag("P2")
    void job_that_commits_late_in_a_limited_queue_is_found_by_an_idle_worker() throws Exception {
        elsewhere.rowlock().queues().limit("default", QueueLimits.none().running(5), new By("ada", "a test"));
        try (Worker worker = rowlock.work(
                config -> config.queue("default", 2).queue("unlimited", 2).handle(Task.class, (task, job) -> {}))) {
            untilQuiet(3);
            long late = schema.one(
                            Long.class,
                            "INSERT INTO rowlock_job (kind, payload, run_at)"
                                    + " VALUES ('task', '{\"no\":1}', clock_timestamp() - interval '1 minute') RETURNING id")
                    .orElseThrow();
            awaitCompleted(late);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P6")
    void jobs_of_a_dead_worker_are_found_by_an_idle_one() throws Exception {
        try (Worker worker = idle()) {
            long plain = lost("NULL", 0);
            awaitCompleted(plain);
            untilQuiet(3);
            long suspect = lost("NULL", 1);
            awaitCompleted(suspect);
            untilQuiet(3);
            long keyed = lost("'k'", 0);
            awaitCompleted(keyed);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void parked_job_whose_key_has_no_other_is_found_by_an_idle_worker() throws Exception {
        try (Worker worker = idle()) {
            long stranded = elsewhere
                    .enqueue(new Task(1), options -> options.orderingKey("k").queue("elsewhere"))
                    .id();
            schema.execute("UPDATE rowlock_job SET queue = 'default', state = 'parked' WHERE id = " + stranded);
            schema.execute(
                    "INSERT INTO rowlock_key (queue, ordering_key) VALUES ('default', 'k') ON CONFLICT DO NOTHING");
            awaitCompleted(stranded);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void job_of_a_queue_that_goes_on_is_found() throws Exception {
        elsewhere.rowlock().queues().pause("default", new By("op", "test"));
        try (Worker worker = idle()) {
            long held = elsewhere.enqueue(new Task(1)).id();
            soon().until(() -> {
                long before = statements.of("claim");
                soon().until(() -> statements.of("claim") > before + 3);
                return true;
            });
            assertThat(elsewhere.state(held)).isEqualTo(JobState.READY);
            elsewhere.rowlock().queues().resume("default", new By("op", "test"));
            awaitCompleted(held);
            assertThat(worker.health().up()).isTrue();
        }
    }

    private Worker idle() {
        Worker worker = rowlock.work(config -> config.handle(Task.class, (task, job) -> {}));
        untilQuiet(3);
        return worker;
    }

    /** Looks that saw nothing come one after the other. */
    private void untilQuiet(int looks) {
        soon().atMost(Duration.ofMinutes(2)).until(() -> statements.of("any-due") > 0);
        statements.clear();
        soon().atMost(Duration.ofMinutes(2)).until(() -> statements.of("any-due") >= looks);
    }

    private void awaitCompleted(long id) {
        soon().atMost(Duration.ofMinutes(1))
                .until(() ->
                        schema.count("SELECT count(*) FROM rowlock_job WHERE id = " + id + " AND state = 'completed'")
                                == 1);
    }

    /** A job whose lease is over, of a worker that is no more. */
    private long lost(String key, int losses) throws Exception {
        long id = schema.count("SELECT nextval(pg_get_serial_sequence('rowlock_job', 'id'))");
        schema.execute("INSERT INTO rowlock_key (queue, ordering_key) SELECT 'default', k FROM (SELECT " + key
                + "::text) AS key(k) WHERE k IS NOT NULL"); // as its claim left it
        schema.execute(
                "INSERT INTO rowlock_job (id, kind, payload, ordering_key, run_at, locked_by, locked_until, token,"
                        + " attempts, losses) OVERRIDING SYSTEM VALUE VALUES (" + id + ", 'task', '{\"no\": 1}', " + key
                        + ", clock_timestamp() - interval '1 minute', 'gone', clock_timestamp() - interval '1 second', 1, 1, "
                        + losses + ")");
        return id;
    }
}
