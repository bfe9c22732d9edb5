package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NoteTest {
    private static final Instant AT = Instant.parse("2026-03-29T01:30:00.123456Z");

    @Test
    void what_is_written_is_read() {
        Note note = new Note(
                "me",
                List.of(
                        job(1, "default", "mail", Priority.HIGH, AT, false),
                        job(2, "two words", "tab\tline\n* %20+", Priority.NORMAL, AT.plusSeconds(5), true),
                        job(3, "\u65e5\u672c\ud83d\ude00", "\u00e4", Priority.LOW, AT.minusSeconds(5), false)),
                false,
                null);
        assertThat(Note.read(note.text())).contains(note);
        assertThat(note.text()).matches("\\p{ASCII}+");
    }

    @Test
    void so_are_the_farthest_times_the_database_has() {
        Note note = new Note(
                "me",
                List.of(job(1, "q", "k", Priority.HIGH, OffsetDateTime.MAX.toInstant(), false)),
                true,
                OffsetDateTime.MIN.toInstant());
        assertThat(Note.read(note.text())).contains(note);
        Note anywhere = new Note("me", List.of(), true, null);
        assertThat(Note.read(anywhere.text())).contains(anywhere);
    }

    @Test
    @Tag("P14")
    void a_text_that_would_be_too_long_says_from_when_on_to_look_everywhere() {
        List<Enqueued> jobs = new ArrayList<>();
        String name = "\u65e5".repeat(200);
        for (int i = 0; i < 3; i++) {
            jobs.add(job(i, name, name, Priority.NORMAL, AT.plusSeconds(i), false));
        }
        Note tooLong = new Note("me", jobs, false, null);
        Note fits = new Note("me", jobs.subList(0, 2), false, null);

        assertThat(Note.read(fits.text())).contains(fits);
        assertThat(tooLong.text().getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(8_000);
        assertThat(Note.read(tooLong.text())).contains(new Note("me", List.of(), true, AT));
        assertThat(Note.read(new Note("me", jobs, true, AT.minusSeconds(1)).text()))
                .contains(new Note("me", List.of(), true, AT.minusSeconds(1)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "rowlock-2 me\n*",
                "rowlock-1 me\n1 q",
                "rowlock-1 me\n* soon",
                "rowlock-1 me\n",
                "rowlock-1 me\n* -1000000000-01-01T00:00:00Z",
                "rowlock-1 me\n1 q k 1 free +1000000000-12-31T23:59:59.999999999Z"
            })
    void another_text_is_none(String text) {
        assertThat(Note.read(text)).isEmpty();
    }

    private static Enqueued job(long id, String queue, String kind, Priority priority, Instant at, boolean keyed) {
        return new Enqueued(id, kind, queue, priority, at, keyed, false);
    }
}
