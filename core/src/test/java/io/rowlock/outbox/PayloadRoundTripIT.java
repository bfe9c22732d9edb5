package io.rowlock.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is written comes out of the handler as it was. */
@PostgresTest
final class PayloadRoundTripIT {
    @Kind("note")
    record Note(String text, Map<String, Object> more) {}

    @Kind("figures")
    record Figures(
            long id,
            Long exact,
            BigDecimal amount,
            BigInteger big,
            double real,
            Map<String, Object> free,
            Optional<String> name) {}

    @Kind("times")
    record Times(Instant at, OffsetDateTime offset, ZonedDateTime zoned, LocalDate date, Duration took) {}

    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        rowlock = TestRowlock.fresh(schema);
    }

    static List<String> texts() {
        return List.of(
                "a\0b",
                "\0\0",
                "\\u0000",
                "\\\\u0000",
                "\uD83D",
                "x\uDE00",
                "\u2028 \uFEFF \uFFFE \u0001 \u007F \u0085");
    }

    @ParameterizedTest
    @MethodSource("texts")
    @Tag("B44")
    void any_text_goes_through_the_database(String text) throws Exception {
        Note note = new Note(text, Map.of("nested", List.of(text), "key\0", text));

        assertThat(handled(Note.class, note)).isEqualTo(note);
    }

    @Test
    @Tag("B44")
    void a_megabyte_of_emoji_goes_through_the_database() throws Exception {
        Note note = new Note("\uD83D\uDE00".repeat(262_144), Map.of());

        assertThat(handled(Note.class, note)).isEqualTo(note);
    }

    @Test
    @Tag("B44")
    void a_text_that_only_looks_like_an_escape_stands_unchanged_in_the_row() throws Exception {
        rowlock.enqueue(new Note("\\u0000", Map.of()));

        assertThat(rowlock.schema().one(String.class, "SELECT payload::jsonb->>'text' FROM rowlock_job"))
                .contains("\\u0000");
    }

    @Test
    @Tag("B44")
    void headers_take_any_text_too() throws Exception {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("nul", "a\0b");
        headers.put("half", "\uD83D");
        headers.put("escape", "\\u0000");
        headers.put("emoji", "\uD83D\uDE00".repeat(500));
        long id = rowlock.enqueue(new Note("x", Map.of()), o -> headers.forEach(o::header))
                .id();
        CompletableFuture<Map<String, String>> seen = new CompletableFuture<>();

        try (Worker worker = rowlock.work(w -> w.handle(Note.class, (note, job) -> seen.complete(job.headers())))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(seen).isCompletedWithValue(headers);
        assertThat(rowlock.content(id).headers()).isEqualTo(headers);
    }

    @Test
    @Tag("B44")
    @Tag("P10")
    void error_texts_that_postgres_cannot_store_are_recorded_all_the_same() throws Exception {
        long id =
                rowlock.enqueue(new Note("x", Map.of()), o -> o.maxAttempts(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Note.class, (note, job) -> {
            throw new IllegalStateException("nul \0 half \uD83D escape \\u0000 " + "\uD83D\uDE00".repeat(3_000));
        }))) {
            rowlock.awaitState(id, JobState.DEAD);
            assertThat(worker.health().loops()).isEmpty();
        }

        String expected = "nul \uFFFD half \uFFFD escape \\u0000 \uD83D\uDE00";
        assertThat(rowlock.job(id).progress().lastError()).startsWith(expected).hasSizeLessThanOrEqualTo(2_000);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .singleElement()
                .extracting(JobFailure::message)
                .isEqualTo(rowlock.job(id).progress().lastError());
        assertThat(rowlock.schema().one(String.class, "SELECT reason FROM rowlock_alert"))
                .contains(rowlock.job(id).progress().lastError());
    }

    @Test
    @Tag("B36")
    void numbers_keep_every_digit_and_their_scale() throws Exception {
        for (String amount : List.of("100", "100.00", "1E-20", "1234567890123456789012345678901234567890")) {
            Map<String, Object> free = new LinkedHashMap<>();
            free.put("int", 7);
            free.put("long", (1L << 53) + 1);
            free.put("scaled", new BigDecimal("100.00"));
            Figures figures = new Figures(
                    Long.MAX_VALUE,
                    (1L << 53) + 1,
                    new BigDecimal(amount),
                    BigInteger.TEN.pow(39).add(BigInteger.ONE),
                    Double.NaN,
                    free,
                    Optional.of("x"));

            assertThat(handled(Figures.class, figures)).isEqualTo(figures);
        }
        assertThat(rowlock.schema().list(String.class, "SELECT payload->>'id' FROM rowlock_job"))
                .as("read by SQL")
                .containsOnly("9223372036854775807");
    }

    @Test
    @Tag("B36")
    void times_keep_nanoseconds_offset_and_zone() throws Exception {
        Times times = new Times(
                Instant.parse("2026-03-29T00:59:59.123456789Z"),
                OffsetDateTime.parse("2026-03-29T01:59:59.000000001-09:30"),
                ZonedDateTime.of(2026, 10, 25, 2, 30, 0, 1, ZoneId.of("Europe/Berlin")),
                LocalDate.of(2024, 2, 29),
                Duration.ofNanos(1));

        assertThat(handled(Times.class, times)).isEqualTo(times);
    }

    private <T> T handled(Class<T> type, T payload) throws Exception {
        CompletableFuture<T> seen = new CompletableFuture<>();
        long id = rowlock.enqueue(payload).id();
        try (Worker worker = rowlock.work(w -> w.handle(type, (read, job) -> seen.complete(read)))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        return seen.getNow(null);
    }
}
