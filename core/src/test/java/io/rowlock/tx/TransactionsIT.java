package io.rowlock.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.idempotency.Answer;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.IdempotentRequest;
import io.rowlock.idempotency.Outcome;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A transaction is done again where nothing of it is there, and nowhere else. */
@PostgresTest
@Timeout(120)
final class TransactionsIT {
    private static final TransactionRetry QUICK = TransactionRetry.standard()
            .policy(RetryPolicy.fixed(Duration.ofMillis(5)).maxAttempts(5));

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger attempts = new AtomicInteger();
    private TestSchema schema;
    private PGSimpleDataSource source;

    @BeforeEach
    void create(TestSchema schema) throws Exception {
        this.schema = schema;
        source = schema.dataSource();
        schema.execute("DROP TABLE IF EXISTS account; CREATE TABLE account (id int PRIMARY KEY, n int);"
                + " INSERT INTO account VALUES (1, 0), (2, 0)");
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void work_is_committed_and_the_connection_given_back_as_it_was() throws Exception {
        Connection lent = source.getConnection();
        AtomicInteger closed = new AtomicInteger();

        String result = Transactions.retrying(only(lent, closed), connection -> {
            add(connection, 1);
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(sum()).isOne();
        assertThat(closed).hasValue(1);
    }

    @Test
    void what_would_end_the_transaction_is_refused() {
        assertThatThrownBy(() -> Transactions.retrying(source, connection -> {
                    connection.commit();
                    return 0;
                }))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("commit is not for the work of a transaction");
    }

    @Test
    void serialisation_failures_are_tried_again_also_those_told_at_the_commit() throws Exception {
        source.setOptions("-c default_transaction_isolation=serializable");
        CyclicBarrier bothHaveRead = new CyclicBarrier(2);
        List<Future<Integer>> both = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            int mine = i;
            both.add(threads.submit(() -> {
                AtomicInteger tries = new AtomicInteger();
                return Transactions.retrying(source, QUICK, connection -> {
                    int sum = sum(connection);
                    if (tries.incrementAndGet() == 1) {
                        bothHaveRead.await();
                    }
                    set(connection, mine, sum + 1);
                    return tries.get();
                });
            }));
        }

        assertThat(both.get(0).get() + both.get(1).get()).isEqualTo(3);
        assertThat(schema.list(Integer.class, "SELECT n FROM account ORDER BY n"))
                .containsExactly(1, 2);
    }

    @Test
    void of_two_in_a_deadlock_both_are_done() throws Exception {
        CyclicBarrier bothHaveOne = new CyclicBarrier(2);
        List<Future<Integer>> both = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            int first = i;
            both.add(threads.submit(() -> {
                AtomicInteger tries = new AtomicInteger();
                return Transactions.retrying(source, QUICK, connection -> {
                    add(connection, first);
                    if (tries.incrementAndGet() == 1) {
                        bothHaveOne.await();
                    }
                    add(connection, 3 - first);
                    return tries.get();
                });
            }));
        }

        assertThat(both.get(0).get() + both.get(1).get()).isEqualTo(3);
        assertThat(sum()).isEqualTo(4);
    }

    @Test
    void a_terminated_session_is_replaced_by_a_new_one() throws Exception {
        Set<Integer> sessions = new HashSet<>();

        Transactions.retrying(source, QUICK, connection -> {
            add(connection, 1);
            sessions.add(pid(connection));
            if (attempts.incrementAndGet() <= 2) {
                schema.count("SELECT count(pg_terminate_backend(?))", pid(connection));
            }
            add(connection, 2);
            return 0;
        });

        assertThat(sessions).hasSize(3);
        assertThat(sum()).isEqualTo(2);
    }

    @Test
    void what_was_thrown_because_of_the_database_counts_as_what_the_database_said() throws Exception {
        int tries = Transactions.retrying(source, QUICK, connection -> {
            if (attempts.incrementAndGet() < 3) {
                throw new IllegalStateException("of a mapper", new SQLException("", "40001"));
            }
            return attempts.get();
        });
        assertThat(tries).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "42501", "57014", "55P03", "25P02"})
    void other_errors_go_to_the_caller_at_once(String state) throws Exception {
        SQLException error = new SQLException("", state);
        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    attempts.incrementAndGet();
                    add(connection, 1);
                    throw error;
                }))
                .isSameAs(error);
        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    throw new IOException("of the work");
                }))
                .isInstanceOf(IOException.class);
        assertThat(attempts).hasValue(1);
        assertThat(sum()).isZero();
    }

    @Test
    void the_last_error_tells_of_those_before_it() {
        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    throw new SQLException("attempt " + attempts.incrementAndGet(), "40001");
                }))
                .hasMessage("attempt 5")
                .satisfies(last -> assertThat(last.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("attempt 1", "attempt 2", "attempt 3", "attempt 4"));
    }

    @Test
    void no_attempt_begins_after_the_deadline_nor_after_an_interrupt() {
        TransactionRetry slow = TransactionRetry.standard()
                .policy(RetryPolicy.fixed(Duration.ofHours(1)))
                .within(Duration.ofSeconds(1));
        assertThatThrownBy(() -> Transactions.retrying(source, slow, connection -> {
                    throw new SQLException("attempt " + attempts.incrementAndGet(), "40001");
                }))
                .hasMessage("attempt 1");

        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    Thread.currentThread().interrupt();
                    throw new SQLException("attempt " + attempts.incrementAndGet(), "40001");
                }))
                .hasMessage("attempt 2");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @Tag("P10")
    void a_connection_that_is_not_to_be_had_is_asked_for_again_unless_the_login_is_refused() {
        DataSource full = failing(new SQLException("no connection in time", null, new SQLException("", "53300")));
        DataSource refused = failing(new SQLException("no connection in time", null, new SQLException("", "28P01")));

        assertThat(Transactions.<Integer, RuntimeException>retrying(full, QUICK, connection -> 7))
                .isEqualTo(7);
        assertThatThrownBy(() -> Transactions.<Integer, RuntimeException>retrying(refused, QUICK, connection -> 7))
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining("No connection for a transaction could be had");
    }

    @Test
    void a_constraint_that_refuses_at_the_commit_goes_to_the_caller() throws Exception {
        schema.execute("ALTER TABLE account ADD COLUMN other int REFERENCES account DEFERRABLE INITIALLY DEFERRED");
        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    attempts.incrementAndGet();
                    return connection.createStatement().executeUpdate("UPDATE account SET other = 7");
                }))
                .isInstanceOfSatisfying(
                        DatabaseException.class,
                        failed -> assertThat(failed.sqlState()).isEqualTo("23503"));
        assertThat(attempts).hasValue(1);
    }

    /** The driver takes the server's ROLLBACK for a commit. */
    @Test
    void a_failure_that_the_work_hides_is_told_and_not_taken_for_a_commit() throws Exception {
        assertThatThrownBy(() -> Transactions.retrying(source, QUICK, connection -> {
                    attempts.incrementAndGet();
                    assertThatThrownBy(() -> connection.createStatement().execute("SELECT 1 / 0"))
                            .isInstanceOf(SQLException.class);
                    return 0;
                }))
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining("The transaction was not committed");
        assertThat(attempts).hasValue(1);
    }

    @Test
    void a_hidden_serialisation_failure_is_tried_again() throws Exception {
        source.setOptions("-c default_transaction_isolation=serializable");
        int tries = Transactions.retrying(source, QUICK, connection -> {
            sum(connection);
            if (attempts.incrementAndGet() == 1) {
                schema.execute("UPDATE account SET n = 7 WHERE id = 1");
                assertThatThrownBy(() -> set(connection, 1, 8)).isInstanceOf(SQLException.class);
            }
            return attempts.get();
        });
        assertThat(tries).isEqualTo(2);
    }

    @Test
    void a_lost_answer_to_the_commit_of_what_wrote_nothing_is_done_again() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            proxy.cutBefore("COMMIT");
            int sum = Transactions.retrying(proxy.dataSource(schema), QUICK, TransactionsIT::sum);
            assertThat(sum).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lost_answer_to_the_commit_is_done_again_only_where_declared_idempotent(boolean idempotent) throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            proxy.cutAfter("COMMIT");
            TransactionRetry retry = idempotent ? QUICK.ofIdempotentWork() : QUICK;
            Transactions.Work<Integer, SQLException> work = connection -> {
                attempts.incrementAndGet();
                set(connection, 1, 5);
                return 5;
            };

            if (idempotent) {
                assertThat(Transactions.retrying(proxy.dataSource(schema), retry, work))
                        .isEqualTo(5);
            } else {
                assertThatThrownBy(() -> Transactions.retrying(proxy.dataSource(schema), retry, work))
                        .isInstanceOf(CommitUnknownException.class)
                        .hasMessageContaining("may have committed or not");
            }
            assertThat(attempts).hasValue(idempotent ? 2 : 1);
            assertThat(sum()).as("it had committed").isEqualTo(5);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_the_work_may_have_committed_elsewhere_is_not_done_twice_unless_all_is_idempotent(boolean idempotent)
            throws Exception {
        TransactionRetry retry = idempotent ? QUICK.ofIdempotentWork() : QUICK;
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            proxy.cutAfter("COMMIT");
            Transactions.Work<Integer, SQLException> work = outer -> {
                try {
                    return Transactions.retrying(proxy.dataSource(schema), QUICK, inner -> {
                        add(inner, 1);
                        return attempts.incrementAndGet();
                    });
                } catch (CommitUnknownException e) {
                    throw new IllegalStateException("of a mapper", e);
                }
            };

            if (idempotent) {
                assertThat(Transactions.retrying(source, retry, work)).isEqualTo(2);
            } else {
                assertThatThrownBy(() -> Transactions.retrying(source, retry, work))
                        .hasCauseInstanceOf(CommitUnknownException.class);
                assertThat(sum()).isOne();
            }
            assertThat(attempts).hasValue(idempotent ? 2 : 1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_isolation_that_the_work_sets_goes_back_with_the_connection(boolean fails) throws Exception {
        try (Connection lent = source.getConnection()) {
            lent.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            DataSource pool = Sources.of(() -> unclosed(lent));
            Transactions.Work<Integer, SQLException> work = connection -> {
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                connection.setReadOnly(true);
                return number(connection, fails ? "SELECT 1 / 0" : "SELECT 1");
            };
            if (fails) {
                assertThatThrownBy(() -> Transactions.retrying(pool, work)).isInstanceOf(SQLException.class);
            } else {
                assertThat(Transactions.retrying(pool, work)).isOne();
            }
            assertThat(lent.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
            assertThat(lent.isReadOnly()).isFalse();
        }
    }

    @Test
    void a_connection_that_cannot_begin_is_not_kept_whatever_it_throws() throws Exception {
        Connection lent = source.getConnection();
        DataSource odd = Sources.of(() -> Sources.heard(lent, "setAutoCommit", () -> {
            throw new IllegalStateException("of a pool");
        }));
        assertThatThrownBy(() -> Transactions.<Integer, RuntimeException>retrying(odd, connection -> 1))
                .isInstanceOf(IllegalStateException.class);
        assertThat(lent.isClosed()).isTrue();
    }

    @Test
    @Tag("B20")
    void with_an_idempotency_key_a_lost_commit_is_answered_and_not_done_again() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        IdempotentRequest request =
                IdempotentRequest.of(new IdempotencyKey("k"), "ada", "POST", "/payments", new byte[0]);
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            proxy.cutAfter("COMMIT");

            Answer<Integer> answer = Transactions.retrying(
                    proxy.dataSource(schema),
                    QUICK.ofIdempotentWork(),
                    connection -> rowlock.rowlock()
                            .idempotencyKeys()
                            .execute(connection, request, Integer.class, () -> {
                                add(connection, 1);
                                return Outcome.stored(sum(connection));
                            }));

            assertThat(answer.replayed()).isTrue();
            assertThat(answer.value()).isOne();
            assertThat(sum()).isOne();
        }
    }

    @Test
    void arguments_are_checked() {
        assertThatThrownBy(() -> Transactions.<Integer, RuntimeException>retrying(null, connection -> 1))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> TransactionRetry.standard().within(Duration.ZERO))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> TransactionRetry.standard().within(Duration.ofHours(2)))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> TransactionRetry.standard().policy(null)).isInstanceOf(InvalidUseException.class);
    }

    private DataSource failing(SQLException error) {
        AtomicInteger asked = new AtomicInteger();
        return Sources.of(() -> {
            if (asked.incrementAndGet() == 1) {
                throw error;
            }
            return source.getConnection();
        });
    }

    private static Connection unclosed(Connection lent) {
        return Sources.instead(lent, "close", () -> {});
    }

    private DataSource only(Connection lent, AtomicInteger closed) {
        return Sources.of(() -> Sources.heard(lent, "close", () -> {
            assertThat(lent.getAutoCommit()).isTrue();
            closed.incrementAndGet();
        }));
    }

    private static void add(Connection connection, int id) throws SQLException {
        connection.createStatement().execute("UPDATE account SET n = n + 1 WHERE id = " + id);
    }

    private static void set(Connection connection, int id, int n) throws SQLException {
        connection.createStatement().execute("UPDATE account SET n = " + n + " WHERE id = " + id);
    }

    private static int pid(Connection connection) throws SQLException {
        return number(connection, "SELECT pg_backend_pid()");
    }

    private static int sum(Connection connection) throws SQLException {
        return number(connection, "SELECT sum(n) FROM account");
    }

    private static int number(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }

    private long sum() throws SQLException {
        return schema.count("SELECT sum(n) FROM account");
    }
}
