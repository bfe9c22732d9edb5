package io.rowlock.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.rowlock.Rowlock;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.operation.Operation;
import io.rowlock.operation.OperationFilter;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What was answered can be read and taken out by people, and never makes a request be done again. */
@PostgresTest
final class AnswersIT {
    /** What a client is told. */
    record Told(String text) {}

    private static final By ADA = new By("ada", "request 12 of the person");

    private TestSchema schema;
    private Rowlock rowlock;
    private Answers answers;

    @BeforeEach
    void install(TestSchema own) throws SQLException {
        schema = own;
        rowlock = TestRowlock.fresh(own).rowlock();
        answers = rowlock.answers();
    }

    private static IdempotentRequest request(String principal, String key, String path) {
        return new IdempotentRequest(new IdempotencyKey(key), principal, "POST", path, "body");
    }

    private Answer<Told> ask(IdempotentRequest request) throws SQLException {
        return ask(request, rowlock.idempotencyKeys());
    }

    private Answer<Told> ask(IdempotentRequest request, IdempotencyKeys keys) throws SQLException {
        try (Connection connection = schema.begin()) {
            Answer<Told> answer = keys.execute(
                    connection, request, Told.class, () -> Outcome.stored(new Told("for " + request.principal())));
            connection.commit();
            return answer;
        }
    }

    @Test
    void what_was_answered_is_read_by_who_says_why_and_that_is_kept() throws Exception {
        ask(request("ada", "k-1", "/orders"));
        ask(request("ada", "k-1", "/refunds"));
        ask(request("bob", "k-1", "/orders"));

        assertThat(answers.find("ada", new IdempotencyKey("k-1"), ADA))
                .extracting(StoredAnswer::path, StoredAnswer::answer)
                .containsExactlyInAnyOrder(
                        tuple("/orders", "{\"text\":\"for ada\"}"), tuple("/refunds", "{\"text\":\"for ada\"}"));
        assertThat(answers.find("ada", new IdempotencyKey("k-2"), ADA)).isEmpty();

        assertThat(operations("read"))
                .extracting(each -> each.on().answers())
                .containsExactly(new Operation.Answers("ada", "k-2"), new Operation.Answers("ada", "k-1"));
    }

    @Test
    void what_was_taken_out_is_gone_and_its_request_is_refused_not_done_again() throws Exception {
        IdempotentRequest taken = request("ada", "k-1", "/orders");
        ask(taken);
        ask(request("ada", "k-2", "/orders"));
        ask(request("bob", "k-1", "/orders"));

        assertThat(answers.redact("ada", new IdempotencyKey("k-1"), ADA)).isOne();
        assertThat(answers.redact("ada", new IdempotencyKey("k-1"), ADA)).isZero();

        assertThatThrownBy(() -> ask(taken)).isInstanceOfSatisfying(IdempotencyRefusedException.class, refused -> {
            assertThat(refused.reason()).isEqualTo(Reason.ANSWER_REDACTED);
            assertThat(refused.reason().status()).isEqualTo(410);
        });
        assertThat(ask(request("ada", "k-2", "/orders")).replayed()).isTrue();
        assertThat(ask(request("bob", "k-1", "/orders")).replayed()).isTrue();
        assertThat(answers.find("ada", new IdempotencyKey("k-1"), ADA))
                .singleElement()
                .extracting(StoredAnswer::answer)
                .isNull();
        assertThat(schema.list(
                        String.class,
                        "SELECT response || fingerprint FROM rowlock_idempotency_key"
                                + " WHERE key = 'k-1' AND principal = 'ada'"))
                .containsExactly("nullredacted");
        assertThat(operations("redact")).singleElement().satisfies(each -> {
            assertThat(each.who()).isEqualTo("ada");
            assertThat(each.on().answers()).isEqualTo(new Operation.Answers("ada", "k-1"));
        });
    }

    @Test
    @Tag("P14")
    void all_of_a_principal_are_taken_out_in_bounded_transactions_wherever_they_stand() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_idempotency_key (key, scope, principal, method, path, fingerprint, response, expires_at)"
                        + " SELECT 'key-' || n, sha256(n::text::bytea), CASE WHEN n % 20 = 0 THEN 'ada' ELSE 'bob' END,"
                        + " 'POST', '/orders', 'f', '{}', clock_timestamp() + interval '1 day' FROM generate_series(1, 25000) n");

        assertThat(answers.redact("ada", ADA)).isEqualTo(1_250);

        assertThat(schema.count("SELECT count(*) FROM rowlock_idempotency_key WHERE redacted_at IS NOT NULL"))
                .isEqualTo(1_250);
        assertThat(
                        schema.count(
                                "SELECT count(*) FROM rowlock_idempotency_key WHERE (principal = 'ada') <> (response::text = 'null')"))
                .isZero();
        assertThat(operations("redact"))
                .hasSizeGreaterThan(2)
                .extracting(each -> each.on().answers())
                .containsOnly(new Operation.Answers("ada", null));
    }

    @Test
    void key_that_expired_is_free_again_after_its_answer_was_taken_out() throws Exception {
        IdempotentRequest request = request("ada", "k-1", "/orders");
        IdempotencyKeys brief =
                rowlock.idempotencyKeys().with(IdempotencyOptions.standard().keptFor(Duration.ofDays(1)));
        ask(request, brief);
        answers.redact("ada", ADA);
        schema.execute("UPDATE rowlock_idempotency_key SET expires_at = clock_timestamp() - interval '1 s'");

        assertThat(ask(request).replayed()).isFalse();
        assertThat(ask(request).value()).isEqualTo(new Told("for ada"));
    }

    @Test
    void row_that_somebody_has_locked_is_not_waited_for() throws Exception {
        ask(request("ada", "k-1", "/orders"));
        try (Connection other = schema.begin();
                var lock = other.createStatement()) {
            lock.execute("SELECT FROM rowlock_idempotency_key FOR UPDATE");
            assertThat(answers.redact("ada", ADA)).isZero();
            assertThat(operations("redact")).isEmpty();
        }
        assertThat(answers.redact("ada", ADA)).isOne();
    }

    @Test
    void wrong_use_is_refused() {
        assertThatThrownBy(() -> answers.redact(" ", ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> answers.redact("x".repeat(201), ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> answers.redact(null, ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> answers.redact("ada", (IdempotencyKey) null, ADA))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> answers.find("ada", new IdempotencyKey("k"), null))
                .isInstanceOf(InvalidUseException.class);
    }

    private List<Operation> operations(String what) {
        return rowlock.operations()
                .find(OperationFilter.all().what(what), null, 100)
                .operations();
    }
}
