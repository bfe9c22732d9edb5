package io.rowlock.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("B32")
final class CronTimesTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final ZoneId NEW_YORK = ZoneId.of("America/New_York");

    private static List<String> between(String cron, ZoneId zone, String from, String until) {
        CronTimes times = CronTimes.of(cron, zone);
        List<String> found = new ArrayList<>();
        Instant end = Instant.parse(until);
        Optional<Instant> next = times.next(Instant.parse(from));
        while (next.isPresent() && !next.get().isAfter(end)) {
            found.add(next.get().toString());
            next = times.next(next.get());
        }
        return found;
    }

    /** Clocks are put forward in Berlin at 2026-03-29T01:00Z, in New York at 2026-03-08T07:00Z. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "5 2 * * *  | 2026-03-28T01:05:00Z 2026-03-29T01:00:00Z 2026-03-30T00:05:00Z",
                "30 2 * * * | 2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
                "0 3 * * *  | 2026-03-28T02:00:00Z 2026-03-29T01:00:00Z 2026-03-30T01:00:00Z",
                "59 1 * * * | 2026-03-28T00:59:00Z 2026-03-29T00:59:00Z 2026-03-29T23:59:00Z"
            })
    void a_time_that_the_gap_swallows_comes_at_its_end(String cron, String instants) {
        assertThat(between(cron, BERLIN, "2026-03-28T00:00:00Z", "2026-03-30T01:30:00Z"))
                .containsExactly(instants.split(" "));
    }

    /** Clocks are put back in Berlin at 2026-10-25T01:00Z. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "5 2 * * *  | 2026-10-24T00:05:00Z 2026-10-25T00:05:00Z 2026-10-26T01:05:00Z",
                "30 2 * * * | 2026-10-24T00:30:00Z 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
                "0 3 * * *  | 2026-10-24T01:00:00Z 2026-10-25T02:00:00Z 2026-10-26T02:00:00Z"
            })
    void of_a_time_that_comes_twice_the_first_counts(String cron, String instants) {
        assertThat(between(cron, BERLIN, "2026-10-24T00:00:00Z", "2026-10-26T02:00:00Z"))
                .containsExactly(instants.split(" "));
    }

    @Test
    void asked_within_the_repeated_hour_what_has_come_does_not_come_again() {
        assertThat(between("30 2 * * *", BERLIN, "2026-10-25T01:10:00Z", "2026-10-25T23:00:00Z"))
                .isEmpty();
        assertThat(between("5 2,3 * * *", BERLIN, "2026-10-25T01:10:00Z", "2026-10-25T23:00:00Z"))
                .containsExactly("2026-10-25T02:05:00Z");
    }

    @Test
    void every_hour_goes_on_in_real_time() {
        assertThat(between("*/15 * * * *", BERLIN, "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"))
                .containsExactly(
                        "2026-03-29T00:45:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z", "2026-03-29T01:30:00Z");
        assertThat(between("*/30 * * * *", BERLIN, "2026-10-24T23:45:00Z", "2026-10-25T02:00:00Z"))
                .containsExactly(
                        "2026-10-25T00:00:00Z",
                        "2026-10-25T00:30:00Z",
                        "2026-10-25T01:00:00Z",
                        "2026-10-25T01:30:00Z",
                        "2026-10-25T02:00:00Z");
        assertThat(between("30 * * * *", NEW_YORK, "2026-11-01T04:45:00Z", "2026-11-01T07:45:00Z"))
                .containsExactly("2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:30:00Z");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "UTC"})
    void a_daily_time_comes_once_on_each_local_date(String zone) {
        ZoneId of = ZoneId.of(zone);
        for (String cron : List.of("0 0 * * *", "5 2 * * *", "30 2 * * *", "15 1 * * *", "59 23 * * *")) {
            Map<LocalDate, Integer> days = new TreeMap<>();
            CronTimes times = CronTimes.of(cron, of);
            Instant end = Instant.parse("2028-01-01T12:00:00Z");
            Instant next = Instant.parse("2015-12-31T12:00:00Z");
            LocalDate first = LocalDate.ofInstant(times.next(next).orElseThrow(), of);
            while (next.isBefore(end)) {
                next = times.next(next).orElseThrow();
                days.merge(LocalDate.ofInstant(next, of), 1, Integer::sum);
            }
            assertThat(days.values()).as("%s in %s", cron, zone).containsOnly(1);
            assertThat(days.keySet()).hasSize((int)
                    (((TreeMap<LocalDate, Integer>) days).lastKey().toEpochDay() - first.toEpochDay() + 1));
        }
    }

    @Test
    void five_fields_are_those_of_unix_and_six_have_seconds() {
        assertThat(between("0 9 * * 1-5", BERLIN, "2026-01-02T00:00:00Z", "2026-01-06T00:00:00Z"))
                .containsExactly("2026-01-02T08:00:00Z", "2026-01-05T08:00:00Z");
        assertThat(between("0 0 * * 7", BERLIN, "2026-01-02T00:00:00Z", "2026-01-06T00:00:00Z"))
                .containsExactly("2026-01-03T23:00:00Z");
        assertThat(between("*/20 59 23 L * *", ZoneId.of("UTC"), "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"))
                .containsExactly("2026-02-28T23:59:00Z", "2026-02-28T23:59:20Z", "2026-02-28T23:59:40Z");
        assertThat(between("@daily", BERLIN, "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"))
                .containsExactly("2026-01-02T23:00:00Z");
        assertThat(between("0 12 13 * 5", ZoneId.of("UTC"), "2026-01-03T00:00:00Z", "2026-01-17T00:00:00Z"))
                .as("of a day of the month and one of the week either is enough, as in Unix")
                .containsExactly("2026-01-09T12:00:00Z", "2026-01-13T12:00:00Z", "2026-01-16T12:00:00Z");
    }

    @ParameterizedTest
    @ValueSource(strings = {"* * *", "61 * * * *", "0 0 30 2 *", "a b c d e", "0 0 0 30 2 ?", "* * * * * * * *"})
    void what_cannot_be_read_or_never_comes_is_refused(String cron) {
        assertThatThrownBy(() -> CronTimes.of(cron, BERLIN))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageStartingWith("The cron expression \"" + cron + "\"");
    }

    @Test
    void the_zone_decides_and_not_the_one_of_this_machine() {
        assertThat(ZonedDateTime.ofInstant(
                                CronTimes.of("0 8 * * *", ZoneId.of("Asia/Tokyo"))
                                        .next(Instant.parse("2026-01-01T00:00:00Z"))
                                        .orElseThrow(),
                                ZoneId.of("Asia/Tokyo"))
                        .getHour())
                .isEqualTo(8);
    }
}
