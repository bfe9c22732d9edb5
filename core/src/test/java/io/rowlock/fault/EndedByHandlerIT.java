package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.job.JobKind;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A job is completed and committed by its handler's own transaction, and its thread goes on for longer than a lease. */
@PostgresTest
@Tag("P3")
@Tag("P4")
@Timeout(180)
final class EndedByHandlerIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    EndedByHandlerIT(TestSchema schema) {
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

    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicBoolean interrupted = new AtomicBoolean();

    @Test
    void handler_that_has_completed_its_job_is_not_told_to_stop() throws Exception {
        assertUndisturbed(settings -> settings.handle(Task.class, (task, job) -> {
            try (Connection own = schema.begin()) {
                job.completeIn(own);
                own.commit();
            }
            awaitGate();
        }));
    }

    @Test
    void what_a_framework_does_after_the_commit_is_not_interrupted() throws Exception {
        TransactionRunner<Connection> withCallbacks = work -> {
            try (Connection own = schema.begin()) {
                work.begun(own);
                work.handle(own);
                work.completing(own);
                own.commit();
                awaitGate();
            }
        };
        assertUndisturbed(settings -> settings.handleTransactionally(
                JobKind.of(Task.class), withCallbacks, (task, job, own) -> {}, options -> {}));
    }

    /** Two heartbeats find the job not held any more, and say nothing. */
    private void assertUndisturbed(Consumer<WorkerConfig> handling) throws Exception {
        FaultyConnections connections = new FaultyConnections(schema);
        long job = scene.enqueue(Task.quick("ended"));
        scene.start(scene.rowlock(connections, heard), settings -> handling.accept(settings.lease(Scene.LEASE)));
        patiently()
                .until(() -> connections.asked("still-held") > 2
                        || interrupted.get()
                        || !heard.of(LeaseLost.class).isEmpty());
        assertThat(heard.of(LeaseLost.class)).isEmpty();
        assertThat(interrupted).isFalse();
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isOne();

        gate.countDown();
        patiently()
                .until(() -> heard.of(JobCompleted.class).equals(List.of(new JobCompleted(job, "default", "task", 1))));
        assertThat(heard.of(LeaseLost.class)).isEmpty();
    }

    private void awaitGate() throws InterruptedException {
        try {
            gate.await();
        } catch (InterruptedException e) {
            interrupted.set(true);
            throw e;
        }
    }
}
