package io.rowlock.idempotency;

import static io.rowlock.idempotency.Desk.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.event.RowlockEvent.RequestReplayed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.idempotency.Answer.Source;
import io.rowlock.idempotency.Desk.Receipt;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request is done once; what was done has its answer, and what has no answer was not done. */
@PostgresTest
@Tag("B20")
final class IdempotencyKeysIT {
    private TestSchema schema;
    private TestRowlock rowlock;
    private IdempotencyKeys keys;
    private Desk desk;

    /** Can be written, and not read. */
    static final class Opaque {
        public int number = 1;

        Opaque(int number) {
            this.number = number;
        }
    }

    @Kind("nothing")
    private record Nothing() {}

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema, builder -> builder.maxPayloadBytes(100));
        keys = rowlock.rowlock().idempotencyKeys();
        desk = Desk.of(rowlock);
    }

    @Test
    void a_repetition_gets_the_stored_answer_and_is_marked() throws Exception {
        Answer<Receipt> first = desk.order(post("k", "{}"));
        Answer<Receipt> again = desk.order(post("k", "{}"));

        assertThat(first).isEqualTo(new Answer<>(new Receipt(201, 1), Source.EXECUTED));
        assertThat(again).isEqualTo(new Answer<>(new Receipt(201, 1), Source.REPLAYED));
        assertThat(again.replayed()).isTrue();
        assertThat(desk.orders()).isOne();
        assertThat(rowlock.events(RequestReplayed.class)).containsExactly(new RequestReplayed("POST", "/orders"));
    }

    @Test
    void a_repetition_within_the_same_transaction_does_too() throws Exception {
        try (Connection connection = schema.begin()) {
            desk.order(connection, post("k", "{}"));
            assertThat(desk.order(connection, post("k", "{}")).replayed()).isTrue();
            assertThat(desk.order(connection, post("other", "{}")).replayed()).isFalse();
            connection.commit();
        }
        assertThat(desk.orders()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "acme/bob, POST, /orders",
        "other/ada, POST, /orders",
        "acme/ada, PUT, /orders",
        "acme/ada, POST, /orders/1",
        "acme/adaPOST, POST, /orders",
        "anonymous 10.0.0.7, POST, /orders"
    })
    @Tag("B29")
    void the_same_key_of_another_or_for_another_place_is_another_request(String principal, String method, String path)
            throws Exception {
        IdempotentRequest foreign =
                IdempotentRequest.of(new IdempotencyKey("k"), principal, method, path, new byte[] {1});
        try (Connection atWork = schema.begin()) {
            desk.order(atWork, foreign);
            assertThat(desk.with(IdempotencyOptions.standard().waiting(Duration.ZERO))
                            .order(post("k", "{}"))
                            .replayed())
                    .as("not even while it is being done")
                    .isFalse();
            atWork.commit();
        }

        assertThat(desk.order(foreign).value()).isEqualTo(new Receipt(201, 1));
        assertThat(desk.order(post("k", "{}")).value()).isEqualTo(new Receipt(201, 2));
        assertThat(desk.rows()).isEqualTo(2);
    }

    @Test
    @Tag("B29")
    void another_body_under_the_same_key_is_refused_and_told_nothing() throws Exception {
        Answer<Receipt> first = desk.order(post("k", "{}"));
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> desk.order(connection, post("k", "{\"a\":1}")))
                    .isInstanceOfSatisfying(IdempotencyRefusedException.class, refused -> {
                        assertThat(refused.reason()).isEqualTo(Reason.DIFFERENT_REQUEST);
                        assertThat(refused.reason().status()).isEqualTo(422);
                    });
            assertThat(desk.order(connection, post("k", "{}")).value()).isEqualTo(first.value());
            connection.commit();
        }
        assertThat(desk.orders()).isOne();
    }

    @Test
    void work_that_throws_leaves_nothing_even_if_its_caller_commits() throws Exception {
        try (Connection connection = schema.begin()) {
            connection.createStatement().execute("INSERT INTO ordered (what) VALUES ('of the caller')");
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                        Desk.write(connection, post("k", "{}"));
                        throw new IOException("the carrier does not answer");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasNoSuppressedExceptions();
            connection.commit();
        }

        assertThat(schema.list(String.class, "SELECT what FROM ordered")).containsExactly("of the caller");
        assertThat(desk.rows()).isZero();
        assertThat(desk.order(post("k", "{}")).source()).isEqualTo(Source.EXECUTED);
    }

    @Test
    void work_whose_statement_fails_leaves_a_transaction_that_goes_on() throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                        connection.createStatement().execute("SELECT 1 / 0");
                        return Outcome.stored(new Receipt(201, 1));
                    }))
                    .isInstanceOf(SQLException.class);
            assertThat(desk.order(connection, post("k", "{}")).source()).isEqualTo(Source.EXECUTED);
            connection.commit();
        }
        assertThat(desk.orders()).isOne();
    }

    @Test
    void work_that_hides_a_failed_statement_stores_nothing() throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                        assertThatThrownBy(() -> connection.createStatement().execute("SELECT 1 / 0"))
                                .isInstanceOf(SQLException.class);
                        return Outcome.stored(new Receipt(201, 1));
                    }))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            failed -> assertThat(failed.sqlState()).isEqualTo("25P02"));
            connection.commit();
        }
        assertThat(desk.rows()).isZero();
    }

    @Test
    void an_answer_that_does_not_last_is_given_once_and_what_was_written_is_undone() throws Exception {
        try (Connection connection = schema.begin()) {
            Answer<Receipt> answer = keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                Desk.write(connection, post("k", "{}"));
                return Outcome.undone(new Receipt(503, 0));
            });
            connection.commit();

            assertThat(answer).isEqualTo(new Answer<>(new Receipt(503, 0), Source.UNDONE));
        }
        assertThat(desk.orders()).isZero();
        assertThat(desk.rows()).isZero();
        assertThat(desk.order(post("k", "{}")).source()).isEqualTo(Source.EXECUTED);
    }

    @Test
    void a_final_refusal_is_stored_as_the_work_says() throws Exception {
        for (Source source : new Source[] {Source.EXECUTED, Source.REPLAYED}) {
            try (Connection connection = schema.begin()) {
                assertThat(keys.execute(
                                connection, post("k", "{}"), Receipt.class, () -> Outcome.stored(new Receipt(404, 0))))
                        .isEqualTo(new Answer<>(new Receipt(404, 0), source));
                connection.commit();
            }
        }
    }

    @Test
    @Tag("P1")
    void the_answer_follows_savepoints_of_its_caller_and_of_its_work() throws Exception {
        try (Connection connection = schema.begin()) {
            Savepoint before = connection.setSavepoint();
            desk.order(connection, post("rolled back", "{}"));
            connection.rollback(before);
            keys.execute(connection, post("kept", "{}"), Receipt.class, () -> {
                Savepoint inside = connection.setSavepoint();
                Desk.write(connection, post("kept", "{}"));
                connection.rollback(inside);
                return Outcome.stored(Desk.write(connection, post("kept", "{}")));
            });
            assertThat(desk.order(post("rolled back", "{}")).source()).isEqualTo(Source.EXECUTED);
            connection.commit();
        }
        assertThat(schema.list(String.class, "SELECT key FROM rowlock_idempotency_key ORDER BY 1"))
                .containsExactly("kept", "rolled back");
        assertThat(schema.list(String.class, "SELECT what FROM ordered ORDER BY 1"))
                .containsExactly("kept", "rolled back");
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "ROLLBACK", "ROLLBACK TO SAVEPOINT before"})
    void work_that_ends_the_transaction_or_goes_back_behind_its_beginning_stores_nothing(String end) throws Exception {
        try (Connection connection = schema.begin()) {
            connection.createStatement().execute("SAVEPOINT before");
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                        connection.createStatement().execute(end);
                        return Outcome.stored(new Receipt(201, 1));
                    }))
                    .isInstanceOf(RowlockException.class)
                    .hasMessageContaining("The work of a request has ended the transaction");
            connection.rollback();
        }
        assertThat(desk.rows()).isZero();
    }

    @Test
    void work_whose_answer_finds_a_row_that_was_expired_before_is_undone_also_if_its_caller_commits() throws Exception {
        desk.order(post("k", "{}"));
        schema.execute("UPDATE rowlock_idempotency_key SET expires_at = clock_timestamp()");
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Receipt.class, () -> {
                        Receipt receipt = Desk.write(connection, post("k", "{}"));
                        schema.execute(
                                "UPDATE rowlock_idempotency_key SET expires_at = 'infinity'"); // the clock was put back
                        return Outcome.stored(receipt);
                    }))
                    .isInstanceOf(RowlockException.class)
                    .hasMessageContaining("clock was put back")
                    .hasNoSuppressedExceptions();
            connection.commit();
        }
        assertThat(desk.orders()).isOne();
    }

    @Test
    @Tag("P14")
    void requests_of_a_long_transaction_leave_no_savepoint_open() throws Exception {
        desk.order(post("k", "{}"));
        AtomicInteger open = new AtomicInteger();
        try (TcpProxy proxy = TcpProxy.to(schema.server());
                Connection connection = proxy.dataSource(schema).getConnection()) {
            proxy.tell(sql -> open.addAndGet(sql.startsWith("SAVEPOINT") ? 1 : sql.startsWith("RELEASE") ? -1 : 0));
            connection.setAutoCommit(false);
            assertThat(desk.order(connection, post("k", "{}")).source()).isEqualTo(Source.REPLAYED);
            assertThat(desk.order(connection, post("new", "{}")).source()).isEqualTo(Source.EXECUTED);
            assertThat(keys.execute(connection, post("not", "{}"), Integer.class, () -> Outcome.undone(1))
                            .source())
                    .isEqualTo(Source.UNDONE);
            assertThatThrownBy(() -> keys.execute(connection, post("fails", "{}"), Integer.class, () -> {
                        throw new IOException("of the work");
                    }))
                    .isInstanceOf(IOException.class);
            try (Connection beside = schema.begin()) {
                desk.order(beside, post("now", "{}"));
                IdempotencyKeys impatient =
                        keys.with(IdempotencyOptions.standard().waiting(Duration.ZERO));
                assertThatThrownBy(() -> impatient.execute(
                                connection, post("now", "{}"), Integer.class, () -> Outcome.undone(1)))
                        .isInstanceOf(IdempotencyRefusedException.class);
            }
            connection.commit();
        }
        assertThat(open).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @Tag("P15")
    void above_read_committed_it_is_refused_and_the_transaction_goes_on(int isolation) throws Exception {
        try (Connection connection = schema.connect()) {
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> desk.order(connection, post("k", "{}")))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("could not see an answer that another has stored");
            connection.createStatement().execute("INSERT INTO ordered (what) VALUES ('goes on')");
            connection.commit();
        }
        assertThat(desk.orders()).isOne();
    }

    @Test
    @Tag("P15")
    void autocommit_and_read_only_connections_are_refused_before_any_sql() throws Exception {
        try (Connection connection = schema.connect()) {
            assertThatThrownBy(() -> desk.order(connection, post("k", "{}")))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("autocommit");
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> desk.order(connection, post("k", "{}")))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("read-only");
        }
    }

    @Test
    @Tag("B51")
    void a_server_that_takes_no_writes_is_told_by_its_sqlstate_before_the_work() throws Exception {
        try (Connection connection = schema.begin()) {
            connection.createStatement().execute("SET TRANSACTION READ ONLY");
            assertThatThrownBy(() -> desk.order(connection, post("k", "{}")))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            failed -> assertThat(failed.sqlState()).isEqualTo("25006"));
        }
    }

    @Test
    @Tag("P14")
    void an_answer_that_is_too_large_or_cannot_be_read_again_is_refused_and_undone() throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), String.class, () -> {
                        Desk.write(connection, post("k", "{}"));
                        return Outcome.stored("x".repeat(99));
                    }))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("101 bytes");
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Opaque.class, () -> {
                        Desk.write(connection, post("k", "{}"));
                        return Outcome.stored(new Opaque(2));
                    }))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("could not be written as JSON and read");
            connection.commit();
        }
        assertThat(desk.orders()).isZero();
        assertThat(desk.rows()).isZero();
    }

    @Test
    void a_stored_answer_of_another_type_is_no_reason_to_do_the_request_again() throws Exception {
        desk.order(post("k", "{}"));
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> keys.execute(connection, post("k", "{}"), Integer.class, () -> Outcome.stored(1)))
                    .isInstanceOf(RowlockException.class)
                    .hasMessageContaining("the request was done");
        }
    }

    @Test
    @Tag("B17")
    void an_expired_key_is_free_again_and_its_row_is_pruned() throws Exception {
        desk.order(post("reused", "{}"));
        desk.order(post("old", "{}"));
        desk.order(post("young", "{}"));
        schema.execute("UPDATE rowlock_idempotency_key SET expires_at = clock_timestamp() WHERE key <> 'young'");

        assertThat(desk.order(post("reused", "{\"another\": 1}")).value()).isEqualTo(new Receipt(201, 4));
        assertThat(schema.count("SELECT count(*) FROM rowlock_idempotency_key WHERE key = 'reused'"
                        + " AND expires_at > clock_timestamp() + interval '23 hours'"
                        + " AND created_at > clock_timestamp() - interval '1 minute'"))
                .isOne();

        try (Worker worker = rowlock.work(w -> w.handle(Nothing.class, (nothing, job) -> {}))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_idempotency_key WHERE key = 'old'");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(desk.order(post("young", "{}")).replayed()).isTrue();
        assertThat(desk.order(post("reused", "{\"another\": 1}")).replayed()).isTrue();
    }

    @Test
    void a_key_lives_as_long_as_the_options_say() throws Exception {
        desk.with(IdempotencyOptions.standard().keptFor(Duration.ofDays(7))).order(post("k", "{}"));

        assertThat(schema.count("SELECT count(*) FROM rowlock_idempotency_key"
                        + " WHERE expires_at - created_at BETWEEN interval '7 days' - interval '1 minute' AND interval '7 days'"
                        + " + interval '1 minute'"))
                .isOne();
    }
}
