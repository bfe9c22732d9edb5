package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.event.RowlockEvent.WorkerStarted;
import io.rowlock.event.RowlockEvent.WorkerStopped;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From new over starting, running and stopping to stopped. */
@PostgresTest
final class LifecycleIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void a_worker_goes_from_new_over_running_to_stopped_and_tells_of_it() throws Exception {
        Worker worker = rowlock.rowlock().worker(w -> w.name("night").handle(Mail.class, (mail, job) -> {}));
        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.NEW);
        assertThat(worker.health().up()).isFalse();

        worker.start();
        TestRowlock.soon().until(() -> worker.health().sinceClaim() != null);
        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.RUNNING);
        assertThat(worker.health().up()).isTrue();
        assertThat(worker.id()).startsWith("night-");
        assertThat(rowlock.events(WorkerStarted.class)).containsExactly(new WorkerStarted(worker.id()));

        worker.close();
        worker.close();
        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
        assertThat(worker.health().up()).isFalse();
        assertThat(rowlock.events(WorkerStopped.class)).containsExactly(new WorkerStopped(worker.id()));
    }

    @Test
    @Tag("P10")
    void all_that_a_rowlock_runs_is_up_when_each_worker_is() throws Exception {
        assertThat(rowlock.rowlock().health().up())
                .as("nothing runs, nothing fails")
                .isTrue();
        Worker worker = rowlock.rowlock().worker(w -> w.handle(Mail.class, (mail, job) -> {}));
        assertThat(rowlock.rowlock().health().workers()).containsOnlyKeys(worker.id());
        assertThat(rowlock.rowlock().health().up()).as("made, not started").isFalse();
        worker.start();
        TestRowlock.soon().until(() -> rowlock.rowlock().health().up());
        worker.stop(Duration.ofSeconds(5));
        assertThat(rowlock.rowlock().health().workers()).isEmpty();
    }

    @Test
    void a_worker_is_started_once() throws Exception {
        Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}));
        assertThatThrownBy(worker::start)
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("A worker is started once; make a new one (worker=" + worker.id() + ")");
        long id = rowlock.enqueue(new Mail(1)).id();
        rowlock.awaitState(id, JobState.COMPLETED);

        worker.close();

        assertThatThrownBy(worker::start).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void a_worker_without_its_tables_does_not_start_and_says_why(TestPostgres server) throws Exception {
        try (TestSchema empty = TestSchema.create(server, "empty")) {
            Worker worker = Rowlock.builder()
                    .dataSource(empty.dataSource())
                    .schema(empty.name())
                    .build()
                    .worker(w -> w.handle(Mail.class, (mail, job) -> {}));

            assertThatThrownBy(worker::start)
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("rowlock_schema is missing")
                    .hasMessageContaining("call schema().install()");
            assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DROP INDEX rowlock_job_suspect | index job_suspect",
                "ALTER TABLE rowlock_job DROP COLUMN losses CASCADE | column job.losses",
                "INSERT INTO rowlock_schema (version) SELECT max(version) + 2 FROM rowlock_schema | they have version",
                "DELETE FROM rowlock_schema | missing or empty"
            })
    @Tag("B54")
    void a_worker_whose_tables_differ_does_not_start_and_says_why(String change, String problem, TestPostgres server)
            throws Exception {
        try (TestSchema other = TestSchema.create(server, "other")) {
            TestRowlock changed = TestRowlock.fresh(other);
            other.execute(change);
            Worker worker = changed.rowlock().worker(w -> w.handle(Mail.class, (mail, job) -> {}));

            assertThatThrownBy(worker::start)
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining(problem);
            assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
        }
    }

    @Test
    void a_worker_waits_for_its_database_and_then_works() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Rowlock late = Rowlock.builder()
                .connections(() -> {
                    if (asked.incrementAndGet() <= 2) {
                        throw new SQLException("connection refused", "08001");
                    }
                    return schema.connect();
                })
                .schema(schema.name())
                .build();
        long id = rowlock.enqueue(new Mail(1)).id();

        try (Worker worker = late.worker(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            worker.start();
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(asked.get()).isGreaterThan(2);
    }

    @Test
    void a_stopped_worker_holds_no_lease_no_connection_and_no_thread() throws Exception {
        rowlock.enqueueAll(IntStream.range(0, 500).mapToObj(Mail::new).toList());
        CountDownLatch some = new CountDownLatch(100);
        Worker worker = rowlock.work(w -> w.queue("default", 4).handle(Mail.class, (mail, job) -> some.countDown()));
        some.await();

        worker.close();

        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE locked_by IS NOT NULL"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND attempts <> 0"))
                .as("what was claimed and did not run used no attempt")
                .isZero();
        assertThat(schema.count(
                        "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND pid <> pg_backend_pid()",
                        schema.name()))
                .isZero();
        TestRowlock.soon()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith(worker.id())));
    }

    @Test
    @Tag("B43")
    void a_handler_that_outlasts_the_grace_period_is_told_to_stop_and_its_job_handed_back() throws Exception {
        long id = rowlock.enqueue(new Mail(1)).id();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        AtomicBoolean cancelled = new AtomicBoolean();
        CountDownLatch ended = new CountDownLatch(1);
        Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.set(true);
                cancelled.set(job.cancelled());
            } finally {
                ended.countDown();
            }
        }));
        begun.await();

        worker.stop(Duration.ZERO);

        ended.await();
        assertThat(interrupted).isTrue();
        assertThat(cancelled).isTrue();
        assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
        assertThat(rowlock.job(id).progress().attempts()).isZero();
        assertThat(rowlock.job(id).lease().owner()).isNull();
        assertThat(rowlock.events(JobHandedBack.class)).isEqualTo(List.of(new JobHandedBack(id, "default", "mail")));
        try (Worker next = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(next.health().up()).isTrue();
        }
    }
}
