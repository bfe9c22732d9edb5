package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker loses a job and takes it again itself: two leases of one job are here at once, under one owner. */
@PostgresTest
@Tag("P3")
@Timeout(180)
final class TakenAgainIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    TakenAgainIT(TestSchema schema) {
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
    void outcome_under_the_newer_lease_is_recorded_though_an_older_one_stands_before_it() throws Exception {
        FaultyConnections connections = new FaultyConnections(schema);
        connections.refuse("complete");
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.quick("twice"), options -> options.maxAttempts(2));
        Worker worker = scene.start(
                scene.rowlock(connections, heard),
                settings -> settings.lease(Duration.ofMinutes(1)).handle(Task.class, handler));
        patiently().until(() -> worker.health().unrecorded() == 1);
        expire(job);
        patiently().until(() -> worker.health().unrecorded() == 2);
        connections.refuse();
        patiently().until(() -> scene.count("locked_by IS NULL") == 1);

        assertThat(scene.count("state = 'completed' AND attempts = 2 AND losses = 1 AND token = 3"))
                .isOne();
        assertThat(scene.failures(job)).containsExactly("worker lost");
        patiently().until(() -> worker.health().unrecorded() == 0);
        assertThat(heard.of(JobCompleted.class)).containsExactly(new JobCompleted(job, "default", "task", 2));
    }

    @Test
    void heartbeat_keeps_the_newer_lease_and_stops_the_older_run() throws Exception {
        FaultyConnections connections = new FaultyConnections(schema);
        connections.refuse("heartbeat");
        Set<Integer> running = ConcurrentHashMap.newKeySet();
        Set<Integer> stopped = ConcurrentHashMap.newKeySet();
        CountDownLatch gate = new CountDownLatch(1);
        long job = scene.enqueue(Task.quick("twice"));
        scene.start(
                scene.rowlock(connections, heard),
                settings -> settings.lease(Duration.ofSeconds(15)).handle(Task.class, (task, run) -> {
                    running.add(run.attempt());
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        stopped.add(run.attempt());
                        throw e;
                    }
                }));
        patiently().until(() -> running.contains(1));
        expire(job);
        patiently().until(() -> running.contains(2));
        String olderThanAThird = "locked_until < clock_timestamp() + interval '10 seconds'";
        patiently().until(() -> scene.count(olderThanAThird) == 1);
        connections.refuse();
        patiently().until(() -> scene.count(olderThanAThird) == 0 && stopped.contains(1));
        gate.countDown();
        scene.awaitState(job, "completed");

        assertThat(stopped).containsExactly(1);
        assertThat(heard.of(LeaseLost.class)).isEqualTo(List.of(new LeaseLost(job, "default", "task", 1)));
        assertThat(scene.count("attempts = 2 AND losses = 1 AND token = 3")).isOne();
    }

    private void expire(long job) throws SQLException {
        schema.update("UPDATE rowlock_job SET locked_until = clock_timestamp() WHERE id = ?", job);
    }
}
