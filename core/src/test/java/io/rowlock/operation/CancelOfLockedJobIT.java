package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job is cancelled whose row its handler's own transaction, or a stranger's, has locked for as long as that runs. */
@PostgresTest
final class CancelOfLockedJobIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "ordered twice");
    private static final String REQUESTS = "SELECT count(*) FROM rowlock_cancel_request";

    private final Queue<Integer> begun = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> interrupted = new ConcurrentLinkedQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
        schema.execute("CREATE TABLE IF NOT EXISTS effect (no integer); TRUNCATE effect");
    }

    @AfterEach
    void open() {
        gate.countDown();
    }

    /** The handler writes, and waits; another one is at work elsewhere and never waits. */
    private Worker transactional(TestRowlock where, Duration lease) {
        return where.work(config -> config.queue("default", 4)
                .lease(lease)
                .handleTransactionally(Step.class, (step, job, connection) -> {
                    begun.add(step.no());
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("INSERT INTO effect VALUES (" + step.no() + ")");
                    }
                    if (step.no() == 1) {
                        await(1);
                    }
                }));
    }

    private void await(int no) throws InterruptedException {
        try {
            gate.await();
        } catch (InterruptedException e) {
            interrupted.add(no);
            throw e;
        }
    }

    private void isCancelled(long id) throws Exception {
        soon().until(() -> rowlock.state(id) == JobState.CANCELLED && schema.count(REQUESTS) == 0);
        assertThat(rowlock.job(id).progress().lastError()).isEqualTo("cancelled by ada: ordered twice");
        assertThat(jobs.failures(id)).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM effect WHERE no = 1")).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("P4")
    @Tag("P11")
    void transactional_handler_is_told_at_once_its_work_is_rolled_back_and_the_next_of_its_key_runs(boolean keyed)
            throws Exception {
        try (Worker worker = transactional(rowlock, Duration.ofMinutes(1))) {
            long id = rowlock.enqueue(new Step(1), options -> {
                        if (keyed) {
                            options.orderingKey("a");
                        }
                    })
                    .id();
            soon().until(() -> begun.contains(1));
            rowlock.enqueue(new Step(2), options -> options.orderingKey("a"));

            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);

            isCancelled(id);
            soon().until(() ->
                    rowlock.count(JobState.COMPLETED) == 1 && worker.health().running() == 0);
            assertThat(interrupted).containsExactly(1);
            assertThat(begun).containsExactly(1, 2);
            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.ALREADY_FINISHED);
        }
    }

    @Test
    void handler_in_another_process_is_told_by_its_heartbeat() throws Exception {
        TestRowlock other = TestRowlock.beside(schema);
        try (Worker worker = transactional(other, Duration.ofSeconds(3))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));

            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
            assertThat(jobs.cancel(id, ADA))
                    .isIn(Cancellation.REQUESTED, Cancellation.STOPPED); // it may have been told just now

            isCancelled(id);
            soon().until(() -> worker.health().running() == 0);
            assertThat(begun).containsExactly(1);
        }
    }

    @Test
    void request_in_a_transaction_that_is_rolled_back_stops_nothing() throws Exception {
        try (Worker worker = transactional(rowlock, Duration.ofSeconds(3))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));
            try (Connection connection = schema.begin()) {
                assertThat(jobs.in(connection).cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
                connection.rollback();
            }
            gate.countDown();

            soon().until(() ->
                    rowlock.state(id) == JobState.COMPLETED && worker.health().running() == 0);
            assertThat(interrupted).isEmpty();
        }
    }

    /** It has locked its job in a transaction of its own, does not listen, and would complete the job there. */
    @Test
    @Tag("P3")
    void handler_that_does_not_listen_cannot_complete_the_job_any_more() throws Exception {
        try (Worker worker = rowlock.work(config ->
                config.queue("default", 4).lease(Duration.ofSeconds(3)).handle(Step.class, this::completesInItsOwn))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));

            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);

            isCancelled(id);
            soon().until(() -> worker.health().running() == 0);
            assertThat(interrupted).containsExactly(1);
        }
    }

    private void completesInItsOwn(Step step, JobContext job) throws Exception {
        try (Connection connection = schema.begin()) {
            job.lockIn(connection);
            begun.add(step.no());
            try {
                await(step.no());
            } catch (InterruptedException ignored) {
                assertThatThrownBy(() -> job.completeIn(connection))
                        .isInstanceOf(LeaseLostException.class)
                        .hasMessageContaining("A cancel of the job was asked for");
                connection.rollback();
            }
        }
    }

    /** In another process, whose heartbeat is ten minutes away. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("P4")
    void handler_that_ends_before_it_is_told_neither_completes_nor_kills_the_job(boolean fails) throws Exception {
        TestRowlock other = TestRowlock.beside(schema);
        try (Worker worker = other.work(config -> config.queue("default", 4)
                .lease(Duration.ofHours(1))
                .handleTransactionally(
                        Step.class,
                        (step, job, connection) -> {
                            begun.add(step.no());
                            try (Statement statement = connection.createStatement()) {
                                statement.execute("INSERT INTO effect VALUES (" + step.no() + ")");
                            }
                            gate.await();
                            if (fails) {
                                throw new IllegalStateException("on purpose");
                            }
                        },
                        handler -> handler.retry(RetryPolicy.standard().maxAttempts(1))))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));
            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
            gate.countDown();
            soon().until(() -> worker.health().running() == 0 && rowlock.count(JobState.READY) == 1);

            try (HandCrankedWorker looks = rowlock.rowlock()
                    .handCrankedWorker(config -> config.handle(Step.class, (step, job) -> begun.add(2)))) {
                soon().until(() -> !looks.runNext() && rowlock.state(id) == JobState.CANCELLED);
            }
            isCancelled(id);
            assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isZero();
            assertThat(begun).containsExactly(1);
        }
    }

    @Test
    @Tag("P15")
    void handler_cannot_cancel_its_own_job_in_the_transaction_that_completes_it() throws Exception {
        long id = rowlock.enqueue(new Step(1)).id();
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handleTransactionally(
                        Step.class,
                        (step, job, connection) -> assertThatThrownBy(
                                        () -> jobs.in(connection).cancel(job.id(), ADA))
                                .isInstanceOf(InvalidUseException.class)
                                .hasMessageContaining("throw PermanentFailure to give up")))) {
            worker.drain();
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    void job_of_other_tables_with_the_same_id_is_not_its_own() throws Exception {
        TestRowlock others = TestRowlock.custom(schema, "other_");
        long id = rowlock.enqueue(new Step(1)).id();
        schema.execute(
                "INSERT INTO other_job (id, kind, payload) OVERRIDING SYSTEM VALUE VALUES (?, 'step', '{\"no\":1}')",
                id);
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handleTransactionally(
                        Step.class,
                        (step, job, connection) -> assertThat(
                                        others.rowlock().jobs().in(connection).cancel(id, ADA))
                                .isEqualTo(Cancellation.STOPPED)))) {
            worker.drain();
        }
        assertThat(others.state(id)).isEqualTo(JobState.CANCELLED);
        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    void job_under_a_strangers_lock_is_cancelled_when_that_ends() throws Exception {
        try (Worker worker = rowlock.work(config -> config.queue("default", 4).handle(Step.class, (step, job) -> {
            begun.add(step.no());
            await(step.no());
        }))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));
            try (Connection stranger = schema.begin();
                    Statement statement = stranger.createStatement()) {
                statement.execute("SELECT 1 FROM rowlock_job FOR UPDATE");

                assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);

                soon().until(() -> interrupted.contains(1));
                stranger.rollback();
            }
            isCancelled(id);
            soon().until(() -> worker.health().running() == 0);
            assertThat(begun).containsExactly(1);
        }
    }

    @Test
    @Tag("P2")
    void job_whose_worker_was_lost_meanwhile_is_cancelled_before_it_runs_again() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.orderingKey("a"))
                .id();
        schema.execute(
                "INSERT INTO rowlock_cancel_request (job_id, reason) VALUES (?, 'cancelled by ada: ordered twice')",
                id);

        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(config -> config.handle(Step.class, (step, job) -> begun.add(1)))) {
            assertThat(worker.runNext()).isFalse();
        }

        isCancelled(id);
        assertThat(begun).isEmpty();
    }

    @Test
    void revived_job_is_not_met_by_a_request_from_before() throws Exception {
        long id = rowlock.enqueue(new Step(2)).id();
        assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.STOPPED);
        schema.execute("INSERT INTO rowlock_cancel_request (job_id, reason) VALUES (?, 'old')", id);

        assertThat(jobs.revive(id, ADA)).isEqualTo(JobAnswer.DONE);

        try (Worker worker = transactional(rowlock, Duration.ofMinutes(1))) {
            soon().until(() ->
                    rowlock.state(id) == JobState.COMPLETED && worker.health().running() == 0);
        }
    }

    @Test
    void requests_for_jobs_that_are_gone_are_forgotten() throws Exception {
        schema.execute("INSERT INTO rowlock_cancel_request (job_id, reason) VALUES (4711, 'old')");

        try (Worker worker = transactional(rowlock, Duration.ofSeconds(3))) {
            soon().until(() -> schema.count(REQUESTS) == 0 && worker.health().running() == 0);
        }
    }
}
