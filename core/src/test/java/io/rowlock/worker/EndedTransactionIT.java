package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A handler that ends the transaction which also completes its job: refused, or its job is dead at once. */
@PostgresTest
@Tag("P4")
final class EndedTransactionIT {
    @Kind("booking")
    private record Booking(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schema.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (attempt int)");
    }

    @Test
    void what_would_end_the_transaction_is_refused_and_the_rest_passes() throws Exception {
        List<Throwable> refused = new ArrayList<>();
        AtomicReference<Boolean> unwrapped = new AtomicReference<>();
        Executor direct = Runnable::run;
        long id = run((booking, job, connection) -> {
            write(connection, job.attempt());
            List<ThrowingCallable> ends = List.of(
                    connection::commit,
                    connection::rollback,
                    () -> connection.setAutoCommit(true),
                    connection::close,
                    () -> connection.abort(direct));
            ends.forEach(end -> refused.add(catchThrowable(end)));
            Savepoint savepoint = connection.setSavepoint();
            write(connection, 100);
            connection.rollback(savepoint);
            connection.setAutoCommit(false);
            unwrapped.set(connection.unwrap(org.postgresql.PGConnection.class) != null
                    && List.of(connection).contains(connection));
        });
        rowlock.awaitState(id, JobState.COMPLETED);

        assertThat(refused)
                .hasSize(5)
                .allSatisfy(thrown -> assertThat(thrown)
                        .isInstanceOf(InvalidUseException.class)
                        .hasMessageContaining("is not for a transactional handler"));
        assertThat(unwrapped.get()).isTrue();
        assertThat(effects()).containsExactly(1);
    }

    @Test
    void a_refused_commit_that_goes_up_is_a_failure_like_any_other_and_leaves_nothing() throws Exception {
        long id = run((booking, job, connection) -> {
            write(connection, job.attempt());
            if (job.attempt() == 1) {
                connection.commit();
            }
        });
        rowlock.awaitState(id, JobState.COMPLETED);

        assertThat(effects()).containsExactly(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "ROLLBACK", "COMMIT AND CHAIN"})
    void a_job_whose_handler_ends_its_transaction_by_sql_is_dead_and_not_completed(String sql) throws Exception {
        long id = run((booking, job, connection) -> {
            write(connection, job.attempt());
            execute(connection, sql);
        });
        rowlock.awaitState(id, JobState.DEAD);

        assertThat(effects()).isEqualTo(sql.startsWith("COMMIT") ? List.of(1) : List.of());
        assertEndedOnce(id);
    }

    @Test
    void a_committed_effect_is_not_repeated_though_the_handler_throws_afterwards() throws Exception {
        long id = run((booking, job, connection) -> {
            write(connection, job.attempt());
            execute(connection, "COMMIT");
            throw new IllegalStateException("after the commit");
        });
        rowlock.awaitState(id, JobState.DEAD);

        assertThat(effects()).containsExactly(1);
        assertEndedOnce(id);
    }

    @Test
    void locking_again_after_the_commit_does_not_hide_it() throws Exception {
        AtomicReference<Throwable> again = new AtomicReference<>();
        long id = run((booking, job, connection) -> {
            execute(connection, "COMMIT");
            again.set(catchThrowable(() -> job.lockIn(connection)));
            write(connection, job.attempt());
        });
        rowlock.awaitState(id, JobState.DEAD);

        assertThat(again.get()).isInstanceOf(PermanentFailure.class);
        assertThat(effects()).isEmpty();
        assertEndedOnce(id);
    }

    @Test
    void what_is_written_after_a_rolled_back_completion_is_not_committed_without_it() throws Exception {
        long id = run((booking, job, connection) -> {
            job.completeIn(connection);
            execute(connection, "ROLLBACK");
            write(connection, job.attempt());
        });
        rowlock.awaitState(id, JobState.DEAD);

        assertThat(effects()).isEmpty();
        assertEndedOnce(id);
    }

    @Test
    void what_is_kept_beside_a_completion_rolled_back_to_a_savepoint_is_not_committed_without_it() throws Exception {
        long id = run((booking, job, connection) -> {
            write(connection, job.attempt());
            if (job.attempt() == 1) {
                Savepoint savepoint = connection.setSavepoint();
                job.completeIn(connection);
                connection.rollback(savepoint);
            }
        });
        rowlock.awaitState(id, JobState.COMPLETED);

        assertThat(effects()).containsExactly(2);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .asString()
                .contains("rolled back to a savepoint");
    }

    @Test
    void another_connection_cannot_complete_the_job_of_a_transactional_handler() throws Exception {
        AtomicReference<Throwable> refused = new AtomicReference<>();
        long id = run((booking, job, connection) -> {
            try (Connection other = schema.begin()) {
                refused.set(catchThrowable(() -> job.completeIn(other)));
            }
            write(connection, job.attempt());
        });
        rowlock.awaitState(id, JobState.COMPLETED);

        assertThat(refused.get()).isInstanceOf(PermanentFailure.class).hasMessageContaining("used another one");
        assertThat(effects()).containsExactly(1);
    }

    @Test
    void a_leased_handler_completes_in_the_transaction_that_locked_its_job_or_not_at_all() throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        try (Worker worker = rowlock.work(w -> w.handle(
                Booking.class,
                (booking, job) -> {
                    try (Connection own = schema.begin()) {
                        job.lockIn(own);
                        write(own, job.attempt());
                        own.commit();
                        job.completeIn(own);
                        own.commit();
                    }
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            rowlock.awaitState(id, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(effects()).containsExactly(1);
        assertEndedOnce(id);
    }

    private long run(TransactionalJobHandler<Booking, Connection> handler) throws Exception {
        long id = rowlock.enqueue(new Booking(1)).id();
        try (Worker worker = rowlock.work(
                w -> w.handleTransactionally(Booking.class, handler, h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            TestRowlock.soon().until(() -> rowlock.state(id) != JobState.READY);
            assertThat(worker.health().up()).isTrue();
        }
        return id;
    }

    private void assertEndedOnce(long id) {
        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .asString()
                .contains("The handler ended the transaction that also completes the job", "leave its end to Rowlock");
    }

    private List<Integer> effects() throws SQLException {
        return schema.list(Integer.class, "SELECT attempt FROM effect");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void write(Connection connection, int attempt) throws SQLException {
        execute(connection, "INSERT INTO effect VALUES (" + attempt + ")");
    }
}
