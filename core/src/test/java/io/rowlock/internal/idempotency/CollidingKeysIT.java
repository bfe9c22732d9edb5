package io.rowlock.internal.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.idempotency.Answer;
import io.rowlock.idempotency.Answer.Source;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.IdempotencyOptions;
import io.rowlock.idempotency.IdempotentRequest;
import io.rowlock.idempotency.Outcome;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.internal.sql.IdempotencySql;
import io.rowlock.internal.sql.Names;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two keys whose locks have the same 64 bits. */
@PostgresTest
@Tag("B29")
final class CollidingKeysIT {
    @Test
    void they_wait_for_each_other_and_never_mix(TestSchema schema) throws Exception {
        TestRowlock.fresh(schema);
        RowIdempotencyKeys keys = new RowIdempotencyKeys(
                new IdempotencySql(new Names(schema.name(), "rowlock_")),
                new StoredAnswers(new JacksonCodec(), 100),
                event -> {},
                request -> 4711,
                IdempotencyOptions.standard().waiting(Duration.ZERO));
        try (Connection first = schema.begin();
                Connection second = schema.begin()) {
            assertThat(answer(keys, first, "a")).isEqualTo(new Answer<>("a", Source.EXECUTED));
            assertThatThrownBy(() -> answer(keys, second, "b"))
                    .isInstanceOfSatisfying(
                            IdempotencyRefusedException.class,
                            refused -> assertThat(refused.reason()).isEqualTo(Reason.IN_PROGRESS));
            first.commit();

            assertThat(answer(keys, second, "b")).isEqualTo(new Answer<>("b", Source.EXECUTED));
            second.commit();
            assertThat(answer(keys, first, "a")).isEqualTo(new Answer<>("a", Source.REPLAYED));
            assertThat(answer(keys, first, "b")).isEqualTo(new Answer<>("b", Source.REPLAYED));
        }
    }

    @Test
    void parts_of_a_request_do_not_run_together() {
        assertThat(RequestHash.lock("t", request("k", "ab", "c")))
                .isNotEqualTo(RequestHash.lock("t", request("k", "a", "bc")));
        assertThat(RequestHash.scope(request("k", "ab", "c"))).isNotEqualTo(RequestHash.scope(request("k", "a", "bc")));
        assertThat(RequestHash.lock("t", request("k", "a", "b")))
                .isNotEqualTo(RequestHash.lock("u", request("k", "a", "b")));
    }

    private static Answer<String> answer(RowIdempotencyKeys keys, Connection connection, String key) {
        return keys.execute(connection, request(key, "ada", "POST"), String.class, () -> Outcome.stored(key));
    }

    private static IdempotentRequest request(String key, String principal, String method) {
        return IdempotentRequest.of(new IdempotencyKey(key), principal, method, "/", new byte[0]);
    }
}
