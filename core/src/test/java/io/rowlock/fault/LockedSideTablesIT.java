package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.fault.Task.End;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows of the tables beside the jobs are held by somebody's open transaction, as that of a person who looks at them. */
@PostgresTest
@Tag("P10")
@Timeout(180)
final class LockedSideTablesIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    LockedSideTablesIT(TestSchema schema) {
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
    void deaths_are_recorded_and_told_while_an_alert_is_being_acknowledged() throws Exception {
        long first = scene.enqueue(Task.quick("first").then(End.FAIL_FOR_GOOD));
        Worker worker = start();
        scene.awaitState(first, "dead");
        try (Connection person = schema.begin()) {
            acknowledge(person);
            long dies = scene.enqueue(Task.quick("dies").then(End.FAIL_FOR_GOOD));
            long lost = loseOne();
            List<Long> healthy = scene.enqueueAll(Collections.nCopies(5, Task.quick("healthy")));
            scene.awaitState(dies, "dead");
            scene.awaitState(lost, "dead");
            for (long each : healthy) {
                scene.awaitState(each, "completed");
            }
            assertThat(worker.health().up()).isTrue();
            person.commit();
        }
        assertThat(scene.alerts()).isEqualTo(3);
        assertThat(unseen()).isEqualTo(2);
    }

    @Test
    @Tag("P14")
    void death_after_the_acknowledgement_of_its_hours_alert_opens_another() throws Exception {
        start();
        scene.awaitState(scene.enqueue(Task.quick("1").then(End.FAIL_FOR_GOOD)), "dead");
        try (Connection person = schema.begin()) {
            acknowledge(person);
            person.commit();
        }
        scene.awaitState(scene.enqueue(Task.quick("2").then(End.FAIL_FOR_GOOD)), "dead");
        scene.awaitState(scene.enqueue(Task.quick("3").then(End.FAIL_FOR_GOOD)), "dead");

        assertThat(unseen()).isEqualTo(2);
        assertThat(scene.alerts()).isEqualTo(3);
    }

    @Test
    @Tag("P3")
    void prune_that_hangs_costs_no_lease() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at) SELECT 'foreign', '{}', 'completed',"
                        + " clock_timestamp() - interval '1 day' FROM generate_series(1, 20000)");
        try (FaultyConnections connections = new FaultyConnections(schema)) {
            Deeds handler = scene.deeds("worker");
            long job = scene.enqueue(Task.waiting("long"));
            scene.start(scene.rowlock(connections, heard), handler);
            scene.awaitStart("long", "worker");
            connections.keepBack("prune");
            connections.awaitKeptBack();
            String end = schema.one(String.class, "SELECT (clock_timestamp() + interval '7 seconds')::text")
                    .orElseThrow();
            patiently().until(() -> scene.count("locked_until > '" + end + "' OR losses > 0") == 1);
            connections.letGo();
            handler.openAll();
            scene.awaitState(job, "completed");
        }
        assertThat(scene.count("kind = 'task' AND attempts = 1 AND losses = 0")).isOne();
        assertThat(heard.of(LeaseLost.class)).isEmpty();
    }

    @Test
    void old_job_whose_failures_are_locked_is_pruned_all_the_same() throws Exception {
        long old = scene.enqueue(Task.quick("old"));
        failedOnce(old);
        schema.update(
                "UPDATE rowlock_job SET state = 'completed', attempts = 2, finished_at = clock_timestamp() - interval '2 days'"
                        + " WHERE id = ?",
                old);
        try (Connection person = schema.begin()) {
            lockFailures(person);
            Worker worker = scene.start(
                    scene.rowlock(heard),
                    settings -> settings.keepCompleted(Duration.ofDays(1)).handle(Task.class, scene.deeds("worker")));
            patiently().until(() -> scene.count("id = " + old) == 0);
            scene.awaitState(scene.enqueue(Task.quick("healthy")), "completed");
            assertThat(worker.health().up()).isTrue();
            person.rollback();
        }
    }

    @Test
    void job_whose_failures_are_locked_is_completed_and_deleted_with_the_others() throws Exception {
        Deeds handler = scene.deeds("worker");
        failedOnce(scene.enqueue(Task.waiting("all")));
        scene.enqueueAll(Collections.nCopies(5, Task.waiting("all")));
        try (Connection person = schema.begin()) {
            lockFailures(person);
            Worker worker = scene.start(
                    scene.rowlock(heard),
                    settings -> settings.keepCompleted(Duration.ZERO).handle(Task.class, handler));
            patiently().until(() -> scene.starts("all") == 6);
            handler.openAll();
            patiently().until(() -> scene.count("true") == 0);
            assertThat(worker.health().up()).isTrue();
            person.rollback();
        }
        assertThat(heard.of(LeaseLost.class)).isEmpty();
    }

    private Worker start() {
        return scene.start(scene.rowlock(heard), scene.deeds("worker"));
    }

    /** A job that has used its only attempt under an owner that is gone, and that nobody has seen before. */
    private long loseOne() throws SQLException {
        return schema.one(
                        Long.class,
                        "INSERT INTO rowlock_job (kind, payload, max_attempts, attempts, token, locked_by, locked_until)"
                                + " VALUES ('task', '{}', 1, 1, 1, 'gone', clock_timestamp()) RETURNING id")
                .orElseThrow();
    }

    private void failedOnce(long job) throws SQLException {
        schema.update("UPDATE rowlock_job SET attempts = 1 WHERE id = ?", job);
        schema.update(
                "INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                        + " VALUES (?, 1, 'w', 'c', 'm', '')",
                job);
    }

    private static void acknowledge(Connection person) throws SQLException {
        try (Statement statement = person.createStatement()) {
            statement.execute("UPDATE rowlock_alert SET acknowledged_at = clock_timestamp(), acknowledged_by = 'ada'");
        }
    }

    private static void lockFailures(Connection person) throws SQLException {
        try (Statement statement = person.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_job_failure FOR UPDATE");
        }
    }

    /** What the query of the guide shows. */
    private long unseen() throws SQLException {
        return schema.count("SELECT coalesce(sum(n), 0)::bigint FROM rowlock_alert WHERE acknowledged_at IS NULL");
    }
}
