package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.fault.Task.End;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Somebody else's transaction holds the row of one running job. */
@PostgresTest
@Tag("P3")
@Timeout(180)
final class LockedRowIT {
    private static final int JOBS = 200;
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    LockedRowIT(TestSchema schema) {
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
    void locked_row_delays_no_other_completion_and_is_completed_once_it_is_free() throws Exception {
        Deeds handler = scene.deeds("worker");
        List<Long> jobs = startAll(handler, Task.waiting("all"), LONG_LEASE);
        long locked = jobs.get(JOBS / 2);
        try (Connection somebody = lock(locked)) {
            handler.openAll();
            patiently().until(() -> scene.count("state = 'completed'") == JOBS - 1);
            assertThat(scene.number(locked, "attempts")).isOne();
            somebody.rollback();
        }
        scene.awaitState(locked, "completed");
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isEqualTo(JOBS);
        assertThat(scene.starts("all")).isEqualTo(JOBS);
        assertThat(heard.of(LeaseLost.class)).isEmpty();
    }

    @Test
    void locked_row_delays_no_other_retry_and_is_retried_once_it_is_free() throws Exception {
        Deeds handler = scene.deeds("worker");
        List<Long> jobs = startAll(handler, Task.waiting("all").then(End.THROW, 1), LONG_LEASE);
        long locked = jobs.get(JOBS / 2);
        try (Connection somebody = lock(locked)) {
            handler.openAll();
            patiently().until(() -> scene.count("state = 'completed' AND attempts = 2") == JOBS - 1);
            somebody.rollback();
        }
        scene.awaitState(locked, "completed");
        assertThat(scene.count("state = 'completed' AND attempts = 2 AND losses = 0"))
                .isEqualTo(JOBS);
        assertThat(schema.count("SELECT count(DISTINCT job_id) FROM rowlock_job_failure"))
                .isEqualTo(JOBS);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isEqualTo(JOBS);
        assertThat(heard.of(JobRetried.class)).hasSize(JOBS);
    }

    @Test
    void locked_row_lets_no_other_lease_expire() throws Exception {
        Deeds handler = scene.deeds("worker");
        List<Long> jobs = startAll(handler, Task.waiting("all"), Scene.LEASE);
        long locked = jobs.get(JOBS / 2);
        try (Connection somebody = lock(locked)) {
            patiently()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM rowlock_job WHERE id = ? AND locked_until < clock_timestamp()"
                                            + " - interval '3 seconds'",
                                    locked)
                            == 1);
            assertThat(scene.count("id <> " + locked + " AND locked_until > clock_timestamp() AND losses = 0"))
                    .isEqualTo(JOBS - 1);
            handler.openAll();
            patiently().until(() -> scene.count("state = 'completed'") == JOBS - 1);
            somebody.rollback();
        }
        scene.awaitState(locked, "completed");
        assertThat(scene.count("id <> " + locked + " AND attempts = 1 AND losses = 0"))
                .isEqualTo(JOBS - 1);
        assertThat(schema.count("SELECT count(*) FROM started WHERE job_id <> ?", locked))
                .isEqualTo(JOBS - 1);
    }

    @Test
    void heartbeat_does_not_take_a_locked_row_for_a_lost_one() throws Exception {
        FaultyConnections connections = new FaultyConnections(schema);
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.waiting("long"));
        scene.start(
                scene.rowlock(connections, heard),
                worker -> worker.lease(Duration.ofSeconds(12)).handle(Task.class, handler));
        scene.awaitStart("long", "worker");
        try (Connection somebody = lock(job)) {
            patiently()
                    .until(() -> connections.asked("still-held") > 1
                            || !heard.of(LeaseLost.class).isEmpty());
            somebody.rollback();
        }
        handler.openAll();
        scene.awaitState(job, "completed");
        assertThat(scene.count("attempts = 1 AND losses = 0")).isOne();
        assertThat(heard.of(LeaseLost.class)).isEmpty();
    }

    @Test
    void worker_cranked_by_hand_records_its_outcome_once_the_row_is_free() throws Exception {
        FaultyConnections connections = new FaultyConnections(schema);
        long job = scene.enqueue(Task.quick("a"));
        AtomicReference<Connection> somebody = new AtomicReference<>();
        try (HandCrankedWorker cranked = scene.rowlock(connections)
                .handCrankedWorker(worker ->
                        worker.lease(LONG_LEASE).handle(Task.class, (task, context) -> somebody.set(lock(job))))) {
            CompletableFuture<Integer> drained = CompletableFuture.supplyAsync(cranked::drain);
            patiently().until(() -> connections.asked("still-held") > 0);
            somebody.get().rollback();
            somebody.get().close();
            assertThat(drained.join()).isOne();
        }
        assertThat(scene.count("state = 'completed' AND attempts = 1")).isOne();
    }

    private List<Long> startAll(Deeds handler, Task task, Duration lease) throws SQLException {
        List<Long> jobs = scene.enqueueAll(Collections.nCopies(JOBS, task));
        scene.start(
                scene.rowlock(heard),
                worker -> worker.queue("default", JOBS)
                        .lease(lease)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE)));
        patiently().until(() -> schema.count("SELECT count(*) FROM started") == JOBS);
        return jobs;
    }

    private Connection lock(long job) throws SQLException {
        Connection somebody = schema.begin();
        try (PreparedStatement lock = somebody.prepareStatement("SELECT id FROM rowlock_job WHERE id = ? FOR UPDATE")) {
            lock.setLong(1, job);
            lock.executeQuery().close();
        }
        return somebody;
    }
}
