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

    /**
     * Berlin: 2025-03-30T01:00Z and 2025-10-26T01:00Z; New York: 2025-03-09T07:00Z and 2025-11-02T06:00Z; Santiago, at
     * midnight: 2025-04-06T03:00Z back, 2025-09-07T04:00Z forward.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Europe/Berlin    | 30 */2 * * *    | 2025-03-29T23:00:00Z 2025-03-30T03:00:00Z | 2025-03-29T23:30:00Z 2025-03-30T01:00:00Z 2025-03-30T02:30:00Z",
                "Europe/Berlin    | 30 0/2 * * *    | 2025-03-29T23:00:00Z 2025-03-30T03:00:00Z | 2025-03-29T23:30:00Z 2025-03-30T01:00:00Z 2025-03-30T02:30:00Z",
                "Europe/Berlin    | 30 */2 * * *    | 2025-10-25T22:00:00Z 2025-10-26T04:00:00Z | 2025-10-25T22:30:00Z 2025-10-26T00:30:00Z 2025-10-26T03:30:00Z",
                "Europe/Berlin    | 30 0/2 * * *    | 2025-10-25T22:00:00Z 2025-10-26T04:00:00Z | 2025-10-25T22:30:00Z 2025-10-26T00:30:00Z 2025-10-26T03:30:00Z",
                "Europe/Berlin    | 0 */12 * * *    | 2025-10-25T12:00:00Z 2025-10-26T12:00:00Z | 2025-10-25T22:00:00Z 2025-10-26T11:00:00Z",
                "America/New_York | 30 */2 * * *    | 2025-03-09T05:00:00Z 2025-03-09T09:00:00Z | 2025-03-09T05:30:00Z 2025-03-09T07:00:00Z 2025-03-09T08:30:00Z",
                "America/New_York | 30 0/2 * * *    | 2025-03-09T05:00:00Z 2025-03-09T09:00:00Z | 2025-03-09T05:30:00Z 2025-03-09T07:00:00Z 2025-03-09T08:30:00Z",
                "America/New_York | 30 1/2 * * *    | 2025-11-02T05:00:00Z 2025-11-02T09:00:00Z | 2025-11-02T05:30:00Z 2025-11-02T08:30:00Z",
                "America/New_York | 30 */2 * * *    | 2025-11-02T04:00:00Z 2025-11-02T08:00:00Z | 2025-11-02T04:30:00Z 2025-11-02T07:30:00Z",
                "America/New_York | 0 */12 * * *    | 2025-11-02T03:00:00Z 2025-11-03T04:00:00Z | 2025-11-02T04:00:00Z 2025-11-02T17:00:00Z",
                "America/Santiago | 0 */12 * * *    | 2025-09-06T10:00:00Z 2025-09-07T16:00:00Z | 2025-09-06T16:00:00Z 2025-09-07T04:00:00Z 2025-09-07T15:00:00Z",
                "America/Santiago | 30 */2 * * *    | 2025-09-07T02:00:00Z 2025-09-07T06:00:00Z | 2025-09-07T02:30:00Z 2025-09-07T04:00:00Z 2025-09-07T05:30:00Z",
                "America/Santiago | 30 0/2 * * *    | 2025-09-07T02:00:00Z 2025-09-07T06:00:00Z | 2025-09-07T02:30:00Z 2025-09-07T04:00:00Z 2025-09-07T05:30:00Z",
                "America/Santiago | 0 */12 * * *    | 2025-04-05T14:00:00Z 2025-04-06T17:00:00Z | 2025-04-05T15:00:00Z 2025-04-06T04:00:00Z 2025-04-06T16:00:00Z",
                "America/Santiago | 30 1/2 * * *    | 2025-04-06T02:00:00Z 2025-04-06T06:00:00Z | 2025-04-06T02:30:00Z 2025-04-06T05:30:00Z",
                "Europe/Berlin    | 0/30 0-23 * * * | 2025-10-26T00:15:00Z 2025-10-26T02:00:00Z | 2025-10-26T00:30:00Z 2025-10-26T01:00:00Z 2025-10-26T01:30:00Z 2025-10-26T02:00:00Z",
                "Europe/Berlin    | 0 30 0/1 * * *  | 2025-03-30T00:00:00Z 2025-03-30T02:00:00Z | 2025-03-30T00:30:00Z 2025-03-30T01:30:00Z",
                "Europe/Berlin    | 30 */1 * * *    | 2025-10-26T00:00:00Z 2025-10-26T02:00:00Z | 2025-10-26T00:30:00Z 2025-10-26T01:30:00Z",
                "Europe/Berlin    | 30 0-11,12-23 * * * | 2025-10-26T00:00:00Z 2025-10-26T02:00:00Z | 2025-10-26T00:30:00Z 2025-10-26T01:30:00Z"
            })
    void hours_are_named_whatever_the_writing_unless_all_of_them_are(
            String zone, String cron, String span, String instants) {
        String[] ends = span.split(" ", -1);
        assertThat(between(cron, ZoneId.of(zone), ends[0], ends[1])).containsExactly(instants.split(" ", -1));
    }

    @Test
    void quarters_of_each_named_hour_do_not_stand_still_when_clocks_are_put_back() {
        assertThat(between("0-59/15 0-23 * * *", BERLIN, "2025-10-26T00:45:00Z", "2025-10-26T02:00:00Z"))
                .containsExactly(
                        "2025-10-26T01:00:00Z",
                        "2025-10-26T01:15:00Z",
                        "2025-10-26T01:30:00Z",
                        "2025-10-26T01:45:00Z",
                        "2025-10-26T02:00:00Z");
    }

    @Test
    void days_of_month_and_of_week_mean_either_in_five_fields_and_are_refused_in_six() {
        assertThat(between("0 12 13 * 5", BERLIN, "2026-02-01T00:00:00Z", "2026-02-15T00:00:00Z"))
                .containsExactly("2026-02-06T11:00:00Z", "2026-02-13T11:00:00Z");
        for (String both : List.of("0 0 2 13 * 5", "0 0 2 1-7 * MON", "0 0 2 */2 * 1")) {
            assertThatThrownBy(() -> CronTimes.of(both, BERLIN))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("names days of the month and days of the week")
                    .hasMessageContaining("two schedules");
        }
        assertThat(between("0 0 2 * * 2#1", BERLIN, "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"))
                .containsExactly("2026-02-03T01:00:00Z");
        assertThat(between("0 0 2 13 * ?", BERLIN, "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"))
                .containsExactly("2026-02-13T01:00:00Z");
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
