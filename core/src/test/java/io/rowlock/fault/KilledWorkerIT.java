package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.fault.StallingTransactions.Point;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker's JVM dies by kill -9. */
@PostgresTest
@Timeout(180)
final class KilledWorkerIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    KilledWorkerIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    @Tag("P4")
    void leased_job_of_a_killed_worker_runs_again() throws Exception {
        long job = scene.enqueue(Task.waiting("a"));
        try (ChildJvm first = ChildWorker.launch(schema, "first", options -> {})) {
            scene.awaitStart("a", "first");
            first.kill();
        }
        Deeds second = scene.deeds("second");
        second.openAll();
        scene.start(scene.rowlock(heard), second);
        scene.awaitState(job, "completed");
        assertThat(schema.list(String.class, "SELECT who FROM started ORDER BY attempt"))
                .containsExactly("first", "second");
        assertThat(schema.list(String.class, "SELECT who FROM ended")).containsExactly("second");
        assertThat(scene.failures(job)).containsExactly("worker lost");
        assertThat(heard.of(JobRescued.class))
                .singleElement()
                .satisfies(rescued -> assertThat(rescued.worker()).startsWith("first-"));
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCKED", "WRITTEN", "COMPLETED"})
    @Tag("P4")
    void transactional_job_killed_before_its_commit_has_its_effect_once_by_the_next_worker(Point point)
            throws Exception {
        long job = scene.enqueue(new Booking("a"));
        killAt(point);
        assertThat(schema.count("SELECT count(*) FROM effect")).isZero();

        startSecond();
        scene.awaitState(job, "completed");
        assertThat(schema.list(String.class, "SELECT who FROM effect")).containsExactly("second");
        assertThat(scene.number(job, "attempts")).isEqualTo(2);
        assertThat(scene.failures(job)).containsExactly("worker lost");
    }

    @Test
    @Tag("P4")
    void transactional_job_killed_after_its_commit_never_runs_again() throws Exception {
        long job = scene.enqueue(new Booking("a"));
        killAt(Point.COMMITTED);
        assertThat(scene.count("state = 'completed'")).isOne();

        startSecond();
        long next = scene.enqueue(new Booking("next"));
        scene.awaitState(next, "completed");
        assertThat(schema.list(String.class, "SELECT who FROM effect WHERE job_id = ?", job))
                .containsExactly("first");
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.failures(job)).isEmpty();
    }

    @Test
    @Tag("P8")
    @Tag("B37")
    void namesake_started_at_once_keeps_no_dead_incarnation_alive() throws Exception {
        long job = scene.enqueue(Task.waiting("a"));
        String dead;
        try (ChildJvm first = ChildWorker.launch(schema, "pod-0", options -> {})) {
            dead = ChildWorker.awaitStarted(first);
            scene.awaitStart("a", "pod-0");
            first.kill();
        }
        try (ChildJvm second = ChildWorker.launch(schema, "pod-0", options -> {})) {
            assertThat(ChildWorker.awaitStarted(second)).startsWith("pod-0-").isNotEqualTo(dead);
            second.send("open a");
            scene.awaitState(job, "completed");
            assertThat(second.lines())
                    .contains("event JobRescued[id=" + job + ", queue=default, kind=task, attempts=1, worker=" + dead
                            + "]");
        }
        assertThat(scene.starts("a")).isEqualTo(2);
    }

    @Test
    @Tag("P8")
    @Tag("B37")
    void namesakes_at_the_same_time_are_two_owners() throws Exception {
        List<Long> jobs = scene.enqueueAll(List.of(Task.waiting("a"), Task.waiting("b")));
        Rowlock rowlock = scene.rowlock(heard);
        Deeds handler = scene.deeds("pod-0");
        for (int i = 0; i < 2; i++) {
            scene.start(
                    rowlock,
                    worker -> worker.name("pod-0")
                            .queue("default", 1)
                            .lease(Scene.LEASE)
                            .handle(Task.class, handler));
        }
        patiently().until(() -> scene.count("locked_by LIKE 'pod-0-%'") == 2);
        assertThat(schema.count("SELECT count(DISTINCT locked_by) FROM rowlock_job"))
                .isEqualTo(2);
        handler.openAll();
        for (long job : jobs) {
            scene.awaitState(job, "completed");
        }
        assertThat(scene.count("attempts = 1 AND losses = 0")).isEqualTo(2);
    }

    @Test
    @Tag("P11")
    void key_of_a_job_that_was_cancelled_goes_on_after_the_lease_if_its_worker_was_killed() throws Exception {
        long head = scene.enqueue(Task.waiting("head"), options -> options.orderingKey("a"));
        long next = scene.enqueue(Task.quick("next"), options -> options.orderingKey("a"));
        try (ChildJvm first = ChildWorker.launch(schema, "first", options -> options.lease(Duration.ofSeconds(6)))) {
            scene.awaitStart("head", "first");
            assertThat(scene.rowlock().jobs().cancel(head, new By("ada", "not wanted")))
                    .isEqualTo(Cancellation.REQUESTED);
            first.kill();
        }
        String until = schema.one(
                        String.class, "SELECT held_until::text FROM rowlock_key WHERE held_until > clock_timestamp()")
                .orElseThrow();
        scene.start(scene.rowlock(heard), scene.deeds("second"));
        scene.awaitState(next, "completed");
        assertThat(schema.count("SELECT count(*) FROM started WHERE name = 'next' AND at >= ?::timestamptz", until))
                .isOne();
        patiently().until(() -> schema.count("SELECT count(*) FROM rowlock_key") == 0);
    }

    private void killAt(Point point) throws Exception {
        try (ChildJvm first = ChildWorker.launch(schema, "first", options -> options.stallAt(point))) {
            first.awaitLine("stalls " + point, Scene.SOON);
            first.kill();
        }
        patiently()
                .until(() -> schema.count(
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND"
                                        + " state LIKE 'idle in transaction%'",
                                schema.name())
                        == 0);
    }

    private void startSecond() {
        scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(Scene.LEASE)
                        .handleTransactionally(
                                Booking.class, Booking.handler("second"), options -> options.retry(Scene.AT_ONCE)));
    }
}
