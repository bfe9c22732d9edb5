package io.rowlock.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class JobOptionsTest {
    private static final String LONG = "x".repeat(200);

    @Test
    void options_that_were_never_set_are_empty() {
        JobOptions options = new JobOptions();

        assertThat(options.after()).isEmpty();
        assertThat(options.at()).isEmpty();
        assertThat(options.queue()).isEmpty();
        assertThat(options.priority()).isEmpty();
        assertThat(options.subject()).isEmpty();
        assertThat(options.headers()).isEmpty();
        assertThat(options.maxAttempts()).isEmpty();
        assertThat(options.orderingKey()).isEmpty();
        assertThat(options.limitKey()).isEmpty();
        assertThat(options.dedupKey()).isEmpty();
    }

    @Test
    void options_give_back_what_was_set() {
        JobOptions options = new JobOptions()
                .after(Duration.ofMinutes(5))
                .queue("mails")
                .priority(Priority.HIGH)
                .subject("Order:42")
                .header("tenant", "north")
                .header("trace", "")
                .maxAttempts(7)
                .orderingKey("a")
                .limitKey("b")
                .dedupKey("c");

        assertThat(options.after()).contains(Duration.ofMinutes(5));
        assertThat(options.queue()).contains("mails");
        assertThat(options.priority()).contains(Priority.HIGH);
        assertThat(options.subject()).contains("Order:42");
        assertThat(options.headers()).containsEntry("tenant", "north").containsEntry("trace", "");
        assertThat(options.maxAttempts()).contains(7);
        assertThat(options.orderingKey()).contains("a");
        assertThat(options.limitKey()).contains("b");
        assertThat(options.dedupKey()).contains("c");
    }

    @Test
    void a_text_of_200_characters_is_taken_even_if_each_is_a_surrogate_pair() {
        String emoji = "\uD83D\uDE00".repeat(200);

        assertThat(new JobOptions().subject(emoji).subject()).contains(emoji);
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                refusal("after must be between 0 and 100 years, got PT-1S", o -> o.after(Duration.ofSeconds(-1))),
                refusal("after must be between 0 and 100 years, got null", o -> o.after(null)),
                refusal("after must be between 0 and 100 years", o -> o.after(Duration.ofDays(36_601))),
                refusal("after must be between 0 and 100 years", o -> o.after(Duration.ofSeconds(Long.MAX_VALUE))),
                refusal("at must be an instant up to 9999-12-31T23:59:59Z, got null", o -> o.at(null)),
                refusal("at must be an instant up to 9999-12-31T23:59:59Z", o -> o.at(Instant.MAX)),
                refusal("queue must not be null", o -> o.queue(null)),
                refusal("queue must not be blank", o -> o.queue(" \t")),
                refusal("queue must have at most 200 characters, got 201", o -> o.queue(LONG + "x")),
                refusal("priority must not be null", o -> o.priority(null)),
                refusal("subject must not be null", o -> o.subject(null)),
                refusal("subject must not be blank", o -> o.subject("")),
                refusal("or use a hash of the long text", o -> o.subject(LONG + "x")),
                refusal("got U+0000 at index 1", o -> o.subject("a\0b")),
                refusal("got U+000A at index 2", o -> o.queue("ab\n")),
                refusal("got U+D83D at index 1", o -> o.subject("a\uD83D")),
                refusal("got U+DE00 at index 0", o -> o.subject("\uDE00a")),
                refusal("header name must not be blank", o -> o.header("", "x")),
                refusal("got U+0000 at index 0", o -> o.header("\0", "x")),
                refusal("The value of header tenant must not be null", o -> o.header("tenant", null)),
                refusal("maxAttempts must be between 1 and 1000000, got 0", o -> o.maxAttempts(0)),
                refusal("maxAttempts must be between 1 and 1000000, got 1000001", o -> o.maxAttempts(1_000_001)),
                refusal("orderingKey must not be blank", o -> o.orderingKey(" ")),
                refusal("limitKey must not be null", o -> o.limitKey(null)),
                refusal("dedupKey must have at most 200 characters", o -> o.dedupKey(LONG.repeat(20))));
    }

    static Stream<Arguments> setTwice() {
        return Stream.of(
                refusal("after is set twice", o -> o.after(Duration.ZERO).after(Duration.ZERO)),
                refusal("at is set twice", o -> o.at(Instant.EPOCH).at(Instant.EPOCH)),
                refusal(
                        "after and at cannot both be set",
                        o -> o.at(Instant.EPOCH).after(Duration.ZERO)),
                refusal(
                        "at and after cannot both be set",
                        o -> o.after(Duration.ZERO).at(Instant.EPOCH)),
                refusal("queue is set twice", o -> o.queue("a").queue("a")),
                refusal("priority is set twice", o -> o.priority(Priority.LOW).priority(Priority.LOW)),
                refusal("subject is set twice", o -> o.subject("a").subject("b")),
                refusal(
                        "Header tenant is set twice",
                        o -> o.header("tenant", "a").header("tenant", "a")),
                refusal("maxAttempts is set twice", o -> o.maxAttempts(1).maxAttempts(1)),
                refusal("orderingKey is set twice", o -> o.orderingKey("a").orderingKey("a")),
                refusal("limitKey is set twice", o -> o.limitKey("a").limitKey("a")),
                refusal("dedupKey is set twice", o -> o.dedupKey("a").dedupKey("a")));
    }

    @Tag("P14")
    @Tag("P15")
    @ParameterizedTest(name = "{0}")
    @MethodSource({"refused", "setTwice"})
    void a_wrong_option_is_refused_with_a_message_that_says_what_is_wrong(
            String message, Consumer<JobOptions> setting) {
        JobOptions options = new JobOptions();

        assertThatThrownBy(() -> setting.accept(options))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining(message);
    }

    @Test
    void headers_are_a_view_that_nobody_changes() {
        JobOptions options = new JobOptions().header("a", "b");

        assertThatThrownBy(() -> options.headers().put("c", "d")).isInstanceOf(UnsupportedOperationException.class);
    }

    private static Arguments refusal(String message, Consumer<JobOptions> setting) {
        return Arguments.of(message, setting);
    }
}
