package io.rowlock.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("P14")
final class IdempotentRequestTest {
    private static final IdempotencyKey KEY = new IdempotencyKey("k");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "\"8e03978e-40d5\" | 8e03978e-40d5",
                "8e03978e-40d5 | 8e03978e-40d5",
                "\"a b\" | a b",
                "\"a\\\"b\\\\c\" | a\"b\\c",
                "\"a\";version=1 | a",
                "\"a\"  | a"
            })
    void a_key_is_read_from_the_header_with_quotes_and_without(String header, String key) {
        assertThat(IdempotencyKey.ofHeader(header)).isEqualTo(new IdempotencyKey(key));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {"", " ", "\"\"", "\"", "\"a", "\"a\" b", "\"a\\", "\"a\\n\"", "\"\u00e4\"", "a\tb", "a\u0000"})
    void a_header_without_a_key_is_the_clients_mistake(String header) {
        assertThatThrownBy(() -> IdempotencyKey.ofHeader(header))
                .isInstanceOfSatisfying(IdempotencyRefusedException.class, refused -> {
                    assertThat(refused.reason()).isEqualTo(Reason.MALFORMED_KEY);
                    assertThat(refused.reason().status()).isEqualTo(400);
                });
    }

    @Test
    @Tag("B55")
    void a_key_has_at_most_two_hundred_characters() {
        assertThat(new IdempotencyKey("k".repeat(200)).value()).hasSize(200);
        assertThatThrownBy(() -> new IdempotencyKey("k".repeat(201)))
                .isInstanceOf(IdempotencyRefusedException.class)
                .hasMessageContaining("this one 201");
        assertThatThrownBy(() -> new IdempotencyKey("k".repeat(10_240)))
                .isInstanceOf(IdempotencyRefusedException.class)
                .hasMessageContaining("this one 10240");
    }

    @Test
    void what_a_request_is_bound_to_must_be_there_and_fit() {
        assertRefused(null, "POST", "/", "f");
        assertRefused(" ", "POST", "/", "f");
        assertRefused("p".repeat(201), "POST", "/", "f");
        assertRefused("half \ud83d", "POST", "/", "f");
        assertRefused("nul \u0000", "POST", "/", "f");
        assertRefused("ada", "M".repeat(41), "/", "f");
        assertRefused("ada", "POST", "/".repeat(2_001), "f");
        assertRefused("ada", "POST", "/", "f".repeat(201));
        assertThatThrownBy(() -> new IdempotentRequest(null, "ada", "POST", "/", "f"))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> IdempotentRequest.of(KEY, "ada", "POST", "/", null))
                .isInstanceOf(InvalidUseException.class);
    }

    @Test
    void the_fingerprint_is_sha_256_of_the_body() {
        assertThat(IdempotentRequest.of(KEY, "ada", "POST", "/", new byte[0]).fingerprint())
                .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    @Test
    void options_and_outcomes_are_checked() {
        IdempotencyOptions standard = IdempotencyOptions.standard();
        assertThatThrownBy(() -> standard.keptFor(Duration.ofMillis(999))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> standard.keptFor(Duration.ofDays(367))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> standard.waiting(Duration.ofSeconds(61))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> standard.waiting(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> Outcome.stored(null)).isInstanceOf(InvalidUseException.class);
    }

    private static void assertRefused(String principal, String method, String path, String fingerprint) {
        assertThatThrownBy(() -> new IdempotentRequest(KEY, principal, method, path, fingerprint))
                .isInstanceOf(InvalidUseException.class);
    }
}
