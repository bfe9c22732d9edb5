package io.rowlock.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class RetryPolicyTest {
    private final Throwable error = new IOException("no route");
    private static final Duration HUNDRED_YEARS = Duration.ofDays(36_600);

    @Test
    void the_default_is_thirty_seconds_doubled_up_to_thirty_minutes_and_fifty_attempts() {
        RetryPolicy policy = RetryPolicy.standard().jitter(0);

        assertThat(delays(policy, 9).map(Duration::toSeconds))
                .containsExactly(30L, 60L, 120L, 240L, 480L, 960L, 1_800L, 1_800L, 1_800L);
        assertThat(policy.maxAttempts()).isEqualTo(50);
        assertThat(RetryPolicy.standard().jitter()).isEqualTo(0.1);
    }

    @Test
    void fifty_default_attempts_take_about_a_day() {
        Duration all = delays(RetryPolicy.standard().jitter(0), 49).reduce(Duration.ZERO, Duration::plus);

        assertThat(all).isBetween(Duration.ofHours(20), Duration.ofHours(28));
    }

    @Test
    void an_exponential_policy_is_capped_but_never_below_its_first_delay() {
        assertThat(delays(
                        RetryPolicy.exponential(Duration.ofMillis(300))
                                .max(Duration.ofSeconds(1))
                                .jitter(0),
                        4))
                .containsExactly(
                        Duration.ofMillis(300), Duration.ofMillis(600), Duration.ofSeconds(1), Duration.ofSeconds(1));
        assertThat(delays(RetryPolicy.exponential(Duration.ofHours(2)).jitter(0), 2))
                .as("longer than the usual cap")
                .containsExactly(Duration.ofHours(2), Duration.ofHours(2));
    }

    @Test
    @Tag("P14")
    void no_attempt_number_makes_a_delay_overflow() {
        RetryPolicy policy = RetryPolicy.exponential(HUNDRED_YEARS).max(HUNDRED_YEARS);
        RetryPolicy small = RetryPolicy.exponential(Duration.ofMillis(1)).max(HUNDRED_YEARS);

        for (int attempt : List.of(1, 2, 63, 64, 65, 1_000_000, Integer.MAX_VALUE)) {
            assertThat(policy.jitter(1).delay(attempt, error)).isBetween(Duration.ZERO, HUNDRED_YEARS);
            assertThat(small.jitter(1).delay(attempt, error)).isBetween(Duration.ZERO, HUNDRED_YEARS);
        }
        assertThat(small.jitter(0).delay(1_000_000, error)).isEqualTo(HUNDRED_YEARS);
    }

    @Test
    void jitter_varies_a_delay_up_and_down_within_its_share() {
        RetryPolicy policy = RetryPolicy.fixed(Duration.ofSeconds(100)).jitter(0.2);

        List<Duration> delays =
                IntStream.range(0, 2_000).mapToObj(i -> policy.delay(1, error)).toList();

        assertThat(delays)
                .allSatisfy(delay -> assertThat(delay).isBetween(Duration.ofSeconds(80), Duration.ofSeconds(120)));
        assertThat(delays).anySatisfy(delay -> assertThat(delay).isLessThan(Duration.ofSeconds(95)));
        assertThat(delays).anySatisfy(delay -> assertThat(delay).isGreaterThan(Duration.ofSeconds(105)));
    }

    @Test
    void without_jitter_a_fixed_delay_is_exact_and_zero_stays_zero() {
        assertThat(delays(RetryPolicy.fixed(Duration.ofSeconds(7)).jitter(0), 3))
                .containsOnly(Duration.ofSeconds(7));
        assertThat(RetryPolicy.fixed(Duration.ZERO).jitter(1).delay(1, error)).isEqualTo(Duration.ZERO);
    }

    @Test
    void a_custom_backoff_sees_attempt_and_error() {
        RetryPolicy policy = RetryPolicy.custom((attempt, thrown) ->
                        thrown instanceof IOException ? Duration.ofSeconds(attempt) : Duration.ZERO)
                .jitter(0);

        assertThat(policy.delay(12, error)).isEqualTo(Duration.ofSeconds(12));
        assertThat(policy.delay(12, new IllegalStateException())).isEqualTo(Duration.ZERO);
    }

    static Stream<Arguments> wrongBackoffs() {
        return Stream.of(
                wrong("throws", () -> {
                    throw new IllegalStateException("broken");
                }),
                wrong("throws an Error", () -> {
                    throw new AssertionError("broken");
                }),
                wrong("overflows the stack", RetryPolicyTest::endless),
                wrong("null", () -> null),
                wrong("negative", () -> Duration.ofSeconds(-1)),
                wrong("too long", () -> Duration.ofSeconds(Long.MAX_VALUE)));
    }

    @Tag("P10")
    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongBackoffs")
    void a_custom_backoff_that_fails_counts_as_one_hour_and_never_throws(String how, Supplier<Duration> backoff) {
        RetryPolicy policy =
                RetryPolicy.custom((attempt, error) -> backoff.get()).jitter(0);

        assertThat(policy.delay(1, error)).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void permanent_failures_and_the_types_of_neverOn_are_not_retried() {
        RetryPolicy policy = RetryPolicy.standard().neverOn(IOException.class, StackOverflowError.class);

        assertThat(policy.retries(new PermanentFailure("gone"))).isFalse();
        assertThat(policy.retries(new IOException())).isFalse();
        assertThat(policy.retries(new ConnectException())).as("a subclass").isFalse();
        assertThat(policy.retries(new StackOverflowError())).isFalse();
        assertThat(policy.retries(new IllegalStateException(new IOException())))
                .as("a cause is not looked at")
                .isTrue();
        assertThat(RetryPolicy.standard().retries(new OutOfMemoryError())).isTrue();
    }

    @Test
    void neverOn_adds_to_what_was_named_before() {
        RetryPolicy policy = RetryPolicy.standard().neverOn(IOException.class).neverOn(IllegalStateException.class);

        assertThat(policy.retries(new IOException())).isFalse();
        assertThat(policy.retries(new IllegalStateException())).isFalse();
        assertThat(policy.retries(new IllegalArgumentException())).isTrue();
    }

    @Test
    void each_method_leaves_the_policy_as_it_was() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(1));

        policy.maxAttempts(3).jitter(0).neverOn(IOException.class).max(Duration.ofSeconds(2));

        assertThat(policy.maxAttempts()).isEqualTo(50);
        assertThat(policy.jitter()).isEqualTo(0.1);
        assertThat(policy.never()).isEmpty();
        assertThat(policy.jitter(0).delay(20, error)).isEqualTo(Duration.ofMinutes(30));
    }

    static Stream<Arguments> refused() {
        Duration second = Duration.ofSeconds(1);
        return Stream.of(
                refusal("first must be at least 1 ms, got PT0S", () -> RetryPolicy.exponential(Duration.ZERO)),
                refusal("first must be at least 1 ms", () -> RetryPolicy.exponential(Duration.ofNanos(999_999))),
                refusal("first must be between 0 and 100 years, got null", () -> RetryPolicy.exponential(null)),
                refusal("first must be between 0", () -> RetryPolicy.exponential(Duration.ofSeconds(Long.MAX_VALUE))),
                refusal(
                        "max must be at least 1 ms",
                        () -> RetryPolicy.exponential(second).max(Duration.ZERO)),
                refusal(
                        "max must be between 0",
                        () -> RetryPolicy.exponential(second).max(second.negated())),
                refusal(
                        "max must be at least the first delay of PT1S, got PT0.5S",
                        () -> RetryPolicy.exponential(second).max(Duration.ofMillis(500))),
                refusal(
                        "exponential policy only",
                        () -> RetryPolicy.fixed(second).max(second)),
                refusal("delay must be between 0", () -> RetryPolicy.fixed(second.negated())),
                refusal("delay must be between 0", () -> RetryPolicy.fixed(null)),
                refusal("needs a backoff, got null", () -> RetryPolicy.custom(null)),
                refusal(
                        "maxAttempts must be between 1 and 1000000, got 0",
                        () -> RetryPolicy.standard().maxAttempts(0)),
                refusal("got 1000001", () -> RetryPolicy.standard().maxAttempts(1_000_001)),
                refusal(
                        "neverOn must not be null",
                        () -> RetryPolicy.standard().neverOn((Class<? extends Throwable>) null)),
                refusal(
                        "neverOn must not be null",
                        () -> RetryPolicy.standard().neverOn((Class<? extends Throwable>[]) null)),
                refusal(
                        "jitter must be between 0 and 1, got -0.1",
                        () -> RetryPolicy.standard().jitter(-0.1)),
                refusal(
                        "jitter must be between 0 and 1, got 1.1",
                        () -> RetryPolicy.standard().jitter(1.1)),
                refusal(
                        "jitter must be between 0 and 1, got NaN",
                        () -> RetryPolicy.standard().jitter(Double.NaN)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void a_wrong_policy_is_refused_with_a_message_that_says_what_is_wrong(
            String message, Supplier<RetryPolicy> policy) {
        assertThatThrownBy(policy::get).isInstanceOf(InvalidUseException.class).hasMessageContaining(message);
    }

    @Test
    void a_snooze_and_a_retry_after_check_their_delay() {
        assertThatThrownBy(() -> new Snooze(Duration.ofSeconds(-1))).hasMessageContaining("Snooze delay must be");
        assertThatThrownBy(() -> new RetryAfter(null, "busy")).hasMessageContaining("RetryAfter delay must be");
        assertThat(new RetryAfter(Duration.ofSeconds(3), "busy").delay()).isEqualTo(Duration.ofSeconds(3));
    }

    private Stream<Duration> delays(RetryPolicy policy, int attempts) {
        return IntStream.rangeClosed(1, attempts).mapToObj(attempt -> policy.delay(attempt, error));
    }

    @SuppressWarnings("InfiniteRecursion")
    private static Duration endless() {
        return endless();
    }

    private static Arguments wrong(String how, Supplier<Duration> backoff) {
        return Arguments.of(how, backoff);
    }

    private static Arguments refusal(String message, Supplier<RetryPolicy> policy) {
        return Arguments.of(message, policy);
    }
}
