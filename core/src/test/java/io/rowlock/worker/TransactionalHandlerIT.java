package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Job;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The handler's writes and the end of its job are one transaction, or none. */
@PostgresTest
@Tag("P4")
final class TransactionalHandlerIT {
    private static final Duration HOUR = Duration.ofHours(1);

    @Kind("booking")
    private record Booking(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schema.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (no int, attempt int)");
    }

    @Test
    void effect_and_completion_commit_together() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = transactionally((booking, job, connection) -> write(connection, booking, job.attempt()))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.count("SELECT count(*) FROM effect e JOIN rowlock_job j ON j.xmin::text = e.xmin::text"))
                .isEqualTo(1);
        assertThat(rowlock.events(JobCompleted.class)).containsExactly(new JobCompleted(id, "default", "booking", 1));
    }

    @Test
    void effect_and_deletion_commit_together_with_the_failures_of_earlier_attempts() throws Exception {
        rowlock.enqueue(new Booking(1));

        try (Worker worker = rowlock.work(w -> w.keepCompleted(Duration.ZERO)
                .handleTransactionally(
                        Booking.class,
                        (booking, job, connection) -> {
                            write(connection, booking, job.attempt());
                            if (job.attempt() == 1) {
                                throw new IllegalStateException("once");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            TestRowlock.soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job") == 0);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(2);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    void a_throwing_handler_leaves_no_effect_and_its_job_is_tried_again() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = transactionally((booking, job, connection) -> {
            write(connection, booking, job.attempt());
            if (job.attempt() < 3) {
                throw new StackOverflowError("attempt " + job.attempt());
            }
        })) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(3);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .extracting(JobFailure::message)
                .containsExactly("attempt 1", "attempt 2");
    }

    @Test
    void a_handler_that_broke_its_transaction_and_hides_it_does_not_complete_its_job() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = transactionally((booking, job, connection) -> {
            write(connection, booking, job.attempt());
            if (job.attempt() == 1) {
                assertThat(catchThrowable(() -> connection.createStatement().execute("SELECT 1 / 0")))
                        .isInstanceOf(SQLException.class);
            }
        })) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(2);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .asString()
                .contains("Could not complete the job");
    }

    @Test
    @Tag("P6")
    void a_thrown_snooze_rolls_back_and_uses_no_attempt() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = transactionally((booking, job, connection) -> {
            write(connection, booking, job.attempt());
            throw new Snooze(HOUR);
        })) {
            TestRowlock.soon()
                    .until(() -> rowlock.events(JobSnoozed.class)
                            .equals(List.of(new JobSnoozed(id, "default", "booking", HOUR))));
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.count("SELECT count(*) FROM effect")).isZero();
        assertPutBack(id);
    }

    @Test
    @Tag("P6")
    void snoozeIn_keeps_partial_work_and_uses_no_attempt() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = transactionally((booking, job, connection) -> {
            write(connection, booking, job.attempt());
            job.snoozeIn(connection, HOUR);
        })) {
            TestRowlock.soon().until(() -> rowlock.job(id).lease().token() == 2);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(1);
        assertPutBack(id);
        TestRowlock.soon()
                .until(() -> rowlock.events(JobSnoozed.class)
                        .equals(List.of(new JobSnoozed(id, "default", "booking", HOUR))));
        assertThat(rowlock.events(JobCompleted.class)).as("it is not done").isEmpty();
    }

    private void assertPutBack(long id) throws SQLException {
        Job job = rowlock.job(id);
        assertThat(job.state()).isEqualTo(JobState.READY);
        assertThat(job.progress().attempts()).isZero();
        assertThat(job.lease().owner()).isNull();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE id = ? AND run_at BETWEEN"
                                + " clock_timestamp() + interval '59 min' AND clock_timestamp() + interval '1 hour'",
                        id))
                .isEqualTo(1);
    }

    @Test
    void a_job_is_completed_or_snoozed_once() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        AtomicReference<Throwable> twice = new AtomicReference<>();
        AtomicReference<Throwable> both = new AtomicReference<>();

        try (Worker worker = transactionally((booking, job, connection) -> {
            job.completeIn(connection);
            twice.set(catchThrowable(() -> job.completeIn(connection)));
            both.set(catchThrowable(() -> job.snoozeIn(connection, HOUR)));
            write(connection, booking, job.attempt());
        })) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(twice.get())
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("completed or snoozed already");
        assertThat(both.get()).isInstanceOf(InvalidUseException.class);
        assertThat(schema.count("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @Tag("P15")
    void completing_in_a_stricter_isolation_is_refused_clearly_and_leaves_the_transaction_usable(int isolation)
            throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        AtomicReference<Throwable> refused = new AtomicReference<>();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.begin()) {
                own.setTransactionIsolation(isolation);
                refused.set(catchThrowable(() -> job.completeIn(own)));
                write(own, booking, job.attempt());
                own.commit();
            }
        }))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(refused.get())
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("in a READ COMMITTED transaction only, this one is")
                .hasMessageContaining("job=" + id);
        assertThat(schema.count("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    @Test
    void completing_outside_a_transaction_or_with_a_negative_delay_is_refused() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        AtomicReference<Throwable> autocommit = new AtomicReference<>();
        AtomicReference<Throwable> negative = new AtomicReference<>();
        AtomicReference<Throwable> lock = new AtomicReference<>();
        List<Throwable> nothing = new CopyOnWriteArrayList<>();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.connect()) {
                nothing.add(catchThrowable(() -> job.completeIn(null)));
                nothing.add(catchThrowable(() -> job.snoozeIn(null, HOUR)));
                nothing.add(catchThrowable(() -> job.lockIn(null)));
                autocommit.set(catchThrowable(() -> job.completeIn(own)));
                lock.set(catchThrowable(() -> job.lockIn(own)));
                own.setAutoCommit(false);
                negative.set(catchThrowable(() -> job.snoozeIn(own, Duration.ofSeconds(-1))));
            }
        }))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(autocommit.get())
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Cannot complete a job without a transaction");
        assertThat(lock.get()).isInstanceOf(InvalidUseException.class).hasMessageContaining("Cannot lock a job");
        assertThat(nothing)
                .hasSize(3)
                .allSatisfy(thrown -> assertThat(thrown)
                        .isInstanceOf(InvalidUseException.class)
                        .hasMessageContaining("got null"));
        assertThat(negative.get()).isInstanceOf(InvalidUseException.class).hasMessageContaining("got PT-1S");
    }

    @Test
    void a_leased_handler_completes_its_job_in_a_transaction_of_its_own() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.begin()) {
                write(own, booking, job.attempt());
                job.completeIn(own);
                own.commit();
            }
        }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM effect e JOIN rowlock_job j ON j.xmin::text = e.xmin::text"))
                .isEqualTo(1);
    }

    @Test
    void a_leased_handler_whose_own_transaction_rolled_back_has_failed_though_it_returns() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(
                Booking.class,
                (booking, job) -> {
                    try (Connection own = schema.begin()) {
                        write(own, booking, job.attempt());
                        job.completeIn(own);
                        if (job.attempt() == 2) {
                            own.commit();
                        } else {
                            own.rollback();
                        }
                    }
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(2);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .asString()
                .contains("was not committed");
    }

    @Test
    void a_leased_handler_that_throws_after_its_own_commit_has_completed_its_job() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.begin()) {
                write(own, booking, job.attempt());
                job.completeIn(own);
                own.commit();
            }
            throw new IllegalStateException("too late");
        }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
        assertThat(rowlock.events(LeaseLost.class)).isEmpty();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
    }

    @Test
    void a_leased_handler_whose_own_transaction_rolled_back_may_complete_its_job_in_another() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.begin()) {
                write(own, booking, 1);
                job.completeIn(own);
                own.rollback();
                write(own, booking, 2);
                job.completeIn(own);
                own.commit();
            }
        }))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            TestRowlock.soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(2);
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
    }

    @Test
    void a_leased_handler_may_snooze_in_a_transaction_of_its_own() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Booking.class, (booking, job) -> {
            try (Connection own = schema.begin()) {
                write(own, booking, job.attempt());
                job.lockIn(own);
                job.snoozeIn(own, HOUR);
                own.commit();
            }
        }))) {
            TestRowlock.soon()
                    .until(() -> rowlock.events(JobSnoozed.class)
                            .equals(List.of(new JobSnoozed(id, "default", "booking", HOUR))));
            assertThat(worker.health().up()).isTrue();
        }

        assertPutBack(id);
        assertThat(schema.count("SELECT count(*) FROM effect")).isEqualTo(1);
        assertThat(rowlock.events(JobCompleted.class)).isEmpty();
    }

    @Test
    void a_frameworks_own_transaction_runs_the_handler() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        AtomicInteger begun = new AtomicInteger();
        TransactionRunner<StringBuilder> runner = work -> {
            try (Connection connection = schema.begin()) {
                begun.incrementAndGet();
                StringBuilder resource = new StringBuilder();
                work.begun(connection);
                work.handle(resource);
                connection.createStatement().execute("INSERT INTO effect VALUES (" + resource + ", 1)");
                work.completing(connection);
                connection.commit();
            }
        };

        try (Worker worker = rowlock.work(w -> w.handleTransactionally(
                JobKind.of(Booking.class), runner, (booking, job, text) -> text.append(booking.no()), h -> {}))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(begun).hasValue(1);
        assertThat(schema.list(Integer.class, "SELECT no FROM effect")).containsExactly(1);
    }

    @Test
    void connections_of_a_pool_with_other_defaults_are_used_and_given_back_as_they_were() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDataSource(schema.dataSource());
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        config.setMaximumPoolSize(5);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Rowlock pooled =
                    Rowlock.builder().dataSource(pool).schema(schema.name()).build();
            rowlock.enqueueAll(List.of(new Booking(1), new Booking(2), new Booking(3), new Booking(4)));
            try (Worker worker = pooled.worker(w -> w.poll(Duration.ofMillis(20))
                    .handleTransactionally(
                            Booking.class,
                            (booking, job, connection) -> {
                                write(connection, booking, job.attempt());
                                if (job.attempt() == 1) {
                                    throw new IllegalStateException("once");
                                }
                            },
                            h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
                worker.start();
                rowlock.awaitAllEnded();
                assertThat(worker.health().up()).isTrue();
            }
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
            }
        }
        assertThat(schema.count("SELECT count(*) FROM effect WHERE attempt = 2"))
                .isEqualTo(4);
    }

    private Worker transactionally(TransactionalJobHandler<Booking, Connection> handler) {
        Consumer<HandlerConfig> atOnce = h -> h.retry(RetryPolicy.fixed(Duration.ZERO));
        return rowlock.work(w -> w.handleTransactionally(Booking.class, handler, atOnce));
    }

    private static void write(Connection connection, Booking booking, int attempt) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
            insert.setInt(1, booking.no());
            insert.setInt(2, attempt);
            insert.executeUpdate();
        }
    }
}
