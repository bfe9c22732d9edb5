package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.event.RowlockEvent.JobTimedOut;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OutcomeSql;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.internal.sql.OutcomeSql.PutBack;
import io.rowlock.job.By;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A leased handler that writes the end of its lease by itself, as sagas do. */
@PostgresTest
@Tag("P3")
@Timeout(120)
final class DriverLeaseIT {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String HELD = "SELECT count(*) FROM rowlock_job WHERE locked_by IS NOT NULL";

    @Kind("drive")
    private record Drive(int no) {}

    private final AtomicReference<DriverLease> seen = new AtomicReference<>();
    private final AtomicInteger runs = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);
    private TestSchema schema;
    private TestRowlock rowlock;
    private OutcomeSql sql;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        sql = new OutcomeSql(new Names(schema.name(), "rowlock_"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lease_says_what_was_claimed_whatever_is_written_meanwhile(boolean delete) throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();
        schema.execute("UPDATE rowlock_job SET attempts = 4, losses = 2, token = 16");

        try (Worker worker =
                rowlock.work(w -> w.keepCompleted(delete ? Duration.ZERO : HOUR).handle(Drive.class, (drive, job) -> {
                    schema.execute("UPDATE rowlock_job SET attempts = 1, losses = 0");
                    DriverLease lease = lease(job);
                    assertThat(lease.id()).isEqualTo(id);
                    assertThat(lease.token()).isEqualTo(17);
                    assertThat(lease.attempt()).isEqualTo(5);
                    assertThat(lease.losses()).isEqualTo(2);
                    assertThat(lease.deleteCompleted()).isEqualTo(delete);
                    assertThat(lease.takenAway()).isFalse();
                    assertThat(schema.list(String.class, "SELECT locked_by FROM rowlock_job"))
                            .containsExactly(lease.owner());
                    runs.incrementAndGet();
                }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(seen.get().owner()).isEqualTo(worker.id());
        }
        assertThat(runs).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void a_job_that_its_handler_has_completed_is_told_as_completed(boolean delete, boolean thrown) throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker =
                rowlock.work(w -> w.keepCompleted(delete ? Duration.ZERO : HOUR).handle(Drive.class, (drive, job) -> {
                    complete(lease(job));
                    lease(job).ended(null);
                    if (thrown) {
                        throw new IllegalStateException("too late");
                    }
                }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.events(JobCompleted.class)).containsExactly(new JobCompleted(id, "default", "drive", 1));
        assertThat(rowlock.events(LeaseLost.class)).isEmpty();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(delete ? 0 : 1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(delete ? 0 : 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_job_that_its_handler_has_put_back_runs_when_it_is_due_without_a_poll(boolean thrown) throws Exception {
        Duration delay = Duration.ofMillis(300);
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker = rowlock.start(w -> w.poll(HOUR).handle(Drive.class, (drive, job) -> {
            if (runs.incrementAndGet() == 1) {
                putBack(lease(job), delay);
                lease(job).ended(delay);
                if (thrown) {
                    throw new IllegalStateException("too late");
                }
            }
        }))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(runs).hasValue(2);
        assertThat(rowlock.events(JobSnoozed.class)).containsExactly(new JobSnoozed(id, "default", "drive", delay));
        assertThat(rowlock.events(LeaseLost.class)).isEmpty();
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"true, of the handler", "false, was not committed"})
    @Tag("P4")
    void an_end_that_was_not_committed_is_a_failed_attempt(boolean thrown, String message) throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(
                Drive.class,
                (drive, job) -> {
                    lease(job).ended(null);
                    if (thrown) {
                        throw new IllegalStateException("of the handler");
                    }
                },
                h -> h.retry(RetryPolicy.fixed(HOUR).maxAttempts(1))))) {
            rowlock.awaitState(id, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .asString()
                .contains(message);
    }

    @Test
    void the_last_end_counts() throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Drive.class, (drive, job) -> {
            lease(job).ended(HOUR); // its commit failed
            complete(lease(job));
            lease(job).ended(null);
        }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.events(JobSnoozed.class)).isEmpty();
        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    @Tag("B12")
    void a_handler_that_goes_on_beyond_its_timeout_after_the_end_has_ended_its_job() throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(
                Drive.class,
                (drive, job) -> {
                    complete(lease(job));
                    lease(job).ended(null);
                    gate.await();
                },
                h -> h.timeout(Duration.ofMillis(200))))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobTimedOut.class).isEmpty());
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.events(LeaseLost.class)).isEmpty();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        assertThat(seen.get().takenAway()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("P6")
    void a_handler_that_goes_on_beyond_the_grace_period_after_the_end_has_ended_its_job_if_that_was_committed(
            boolean committed) throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();
        CountDownLatch ended = new CountDownLatch(1);
        Worker worker = rowlock.work(w -> w.handle(Drive.class, (drive, job) -> {
            if (committed) {
                complete(lease(job));
            }
            lease(job).ended(null);
            ended.countDown();
            gate.await();
        }));
        ended.await();

        worker.stop(Duration.ZERO);

        assertThat(rowlock.events(LeaseLost.class)).isEmpty();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        assertThat(rowlock.events(JobHandedBack.class)).hasSize(committed ? 0 : 1);
        assertThat(rowlock.state(id)).isEqualTo(committed ? JobState.COMPLETED : JobState.READY);
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(committed ? 1 : 0);
    }

    @Test
    void a_cancelled_job_is_taken_away() throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Drive.class, (drive, job) -> {
            lease(job);
            gate.await();
        }))) {
            TestRowlock.soon().until(() -> seen.get() != null);
            assertThat(seen.get().takenAway()).isFalse();

            rowlock.rowlock().jobs().cancel(id, new By("ada", "a test"));

            TestRowlock.soon().until(() -> seen.get().takenAway());
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void a_stop_is_told_while_the_handler_still_has_its_grace_period() throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();
        AtomicBoolean taken = new AtomicBoolean(true);
        AtomicBoolean before = new AtomicBoolean(true);
        Worker worker = rowlock.work(w -> w.handle(Drive.class, (drive, job) -> {
            before.set(lease(job).stopping());
            gate.await();
            taken.set(lease(job).takenAway());
        }));
        TestRowlock.soon().until(() -> seen.get() != null);
        Thread stopping = new Thread(() -> worker.stop(HOUR));
        stopping.start();

        TestRowlock.soon().until(() -> seen.get().stopping());
        assertThat(schema.count(HELD)).isEqualTo(1);
        gate.countDown();
        stopping.join();

        assertThat(before).isFalse();
        assertThat(taken).isFalse();
        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    void by_hand_a_handler_drives_too_and_is_never_told_to_stop() throws Exception {
        long id = rowlock.enqueue(new Drive(1)).id();
        AtomicBoolean stopping = new AtomicBoolean(true);

        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Drive.class, (drive, job) -> {
                    stopping.set(lease(job).stopping());
                    putBack(lease(job), HOUR);
                    lease(job).ended(HOUR);
                }))) {
            assertThat(worker.runNext()).isTrue();
            assertThat(worker.runNext()).isFalse();
        }

        assertThat(stopping).isFalse();
        assertThat(rowlock.events(JobSnoozed.class)).containsExactly(new JobSnoozed(id, "default", "drive", HOUR));
    }

    private DriverLease lease(JobContext job) {
        seen.set((DriverLease) job);
        return seen.get();
    }

    private void complete(DriverLease lease) throws SQLException {
        try (Connection own = schema.begin()) {
            assertThat(sql.complete(
                            own, lease.owner(), List.of(new Grip(lease.id(), lease.token())), lease.deleteCompleted()))
                    .hasSize(1);
            own.commit();
        }
    }

    private void putBack(DriverLease lease, Duration delay) throws SQLException {
        try (Connection own = schema.begin()) {
            assertThat(sql.putBack(
                            own, lease.owner(), List.of(new PutBack(new Grip(lease.id(), lease.token()), delay))))
                    .hasSize(1);
            own.commit();
        }
    }
}
