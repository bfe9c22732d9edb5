package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Recovery asks each row for its own lease, and for nothing else. */
@PostgresTest
@Tag("P8")
@Timeout(180)
final class RecoveryIT {
    private static final int JOBS = 10;

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    RecoveryIT(TestSchema schema) {
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
    @Tag("B11")
    void jobs_in_flight_are_left_alone_by_workers_that_start_stop_and_sweep() throws Exception {
        Deeds first = scene.deeds("first");
        scene.enqueueAll(Collections.nCopies(JOBS, Task.waiting("long")));
        scene.start(scene.rowlock(heard), first);
        patiently().until(() -> scene.starts("long") == JOBS);
        Worker second = scene.start(scene.rowlock(heard), scene.deeds("second"));
        leasesRunFor("4 seconds");
        second.stop(Duration.ZERO);
        scene.start(scene.rowlock(heard), scene.deeds("third"));
        leasesRunFor("8 seconds");

        first.openAll();
        scene.awaitAllDone();
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isEqualTo(JOBS);
        assertThat(scene.starts("long")).isEqualTo(JOBS);
        assertThat(heard.of(JobRescued.class)).isEmpty();
    }

    @Test
    void job_is_rescued_when_its_lease_is_over_whatever_else_is_known_of_its_owner() throws Exception {
        Deeds handler = scene.deeds("worker");
        long over = scene.enqueue(Task.quick("over"));
        long alive = scene.enqueue(Task.quick("alive"));
        schema.update("UPDATE rowlock_job SET locked_by = 'gone', token = 1, attempts = 1, locked_until ="
                + " clock_timestamp() + CASE WHEN id = " + over + " THEN interval '0' ELSE interval '1 hour' END");
        scene.start(scene.rowlock(heard), handler);
        scene.awaitState(over, "completed");
        assertThat(scene.failures(over)).containsExactly("worker lost");
        assertThat(scene.number(over, "attempts")).isEqualTo(2);
        assertThat(scene.count("id = " + alive + " AND locked_by = 'gone' AND token = 1 AND losses = 0"))
                .isOne();
        assertThat(heard.of(JobRescued.class)).containsExactly(new JobRescued(over, "default", "task", 1, "gone"));
    }

    @Test
    @Tag("B37")
    void job_is_rescued_though_a_backlog_that_committed_late_stands_before_it() throws Exception {
        Deeds handler = scene.deeds("worker");
        long lost = scene.enqueue(Task.waiting("lost"));
        schema.execute("UPDATE rowlock_job SET locked_by = 'gone', token = 1, attempts = 1,"
                + " run_at = now() - interval '1 minute', locked_until = clock_timestamp()");
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, run_at) SELECT kind, payload, now() - interval '10 minutes'"
                        + " FROM rowlock_job CROSS JOIN generate_series(1, 6000)");
        scene.start(
                scene.rowlock(heard), settings -> settings.queue("default", 4).handle(Task.class, handler));

        patiently().until(() -> scene.number(lost, "losses") == 1);
        assertThat(scene.count("attempts = 0"))
                .as("the backlog has hardly begun")
                .isGreaterThan(5_900);
        schema.update("DELETE FROM rowlock_job WHERE attempts = 0");
    }

    @Test
    @Tag("P2")
    void job_is_rescued_where_polls_are_far_apart_too() throws Exception {
        Deeds handler = scene.deeds("worker");
        long first = scene.enqueue(Task.quick("first"));
        try (Worker worker = scene.rowlock(heard)
                .worker(config -> config.poll(Duration.ofSeconds(6)).handle(Task.class, handler))) {
            worker.start();
            scene.awaitState(first, "completed");

            schema.execute("INSERT INTO rowlock_job (kind, payload, locked_by, locked_until, token, attempts)"
                    + " SELECT kind, payload, 'gone', clock_timestamp(), 1, 1 FROM rowlock_job WHERE id = " + first);

            patiently().until(() -> scene.count("state = 'completed' AND losses = 1") == 1);
        }
    }

    /** Waits until every lease reaches so far beyond the first start as only heartbeats can bring it. */
    private void leasesRunFor(String duration) {
        patiently()
                .until(() ->
                        scene.count("locked_until > (SELECT min(at) FROM started) + interval '3 seconds' + interval '"
                                        + duration + "'")
                                == JOBS);
    }
}
