package io.rowlock.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A deploy that ends an outage and changes a timing makes up for what the old timing has missed. */
@PostgresTest
@Tag("B14")
final class ChangedTimingIT {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final By ADA = new By("ada", "a test");

    @Kind("report")
    private record Report(String name) {}

    private TestSchema schema;
    private TestRowlock rowlock;
    private Schedules schedules;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schedules = rowlock.rowlock().schedules();
    }

    private static Schedule<Report> hourly() {
        return Schedule.fixedRate("s", Duration.ofHours(1)).job(new Report("old"));
    }

    private static Schedule<Report> daily() {
        return Schedule.cron("s", "0 4 * * *", BERLIN).job(new Report("new")).revision(2);
    }

    private void missedSince(String interval) throws Exception {
        schema.update("UPDATE rowlock_schedule SET next_at = clock_timestamp() - interval '" + interval + "'");
    }

    private List<Instant> scheduledAt() throws Exception {
        return schema
                .list(String.class, "SELECT headers->>'rowlock-scheduled-at' FROM rowlock_job ORDER BY id")
                .stream()
                .map(Instant::parse)
                .toList();
    }

    private Instant nextAt() {
        return schedules.find("s").orElseThrow().course().nextAt();
    }

    private Instant clock() throws Exception {
        return schema.one(Instant.class, "SELECT clock_timestamp()").orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"ONCE, 1", "ALL, 5", "NONE, 0"})
    void what_the_old_timing_has_missed_is_made_up_for_by_its_own_rules(Misfire misfire, int jobs) throws Exception {
        schedules.declare(hourly().misfire(misfire));
        missedSince("4 hours 30 minutes");
        Instant first = nextAt();

        assertThat(schedules.declare(daily())).isTrue();

        assertThat(scheduledAt()).hasSize(jobs);
        if (misfire != Misfire.NONE) {
            assertThat(scheduledAt().get(jobs - 1)).isEqualTo(first.plus(Duration.ofHours(4)));
            assertThat(rowlock.events(ScheduleFired.class)).hasSize(1);
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE payload->>'name' <> 'old'"))
                .isZero();
        assertThat(nextAt().atZone(BERLIN).toLocalTime()).hasToString("04:00");
        assertThat(schedules.find("s").orElseThrow().revision()).isEqualTo(2);
        assertThat(schedules.declare(daily())).isFalse();
        assertThat(scheduledAt()).hasSize(jobs);
    }

    @Test
    void more_than_a_transaction_takes_is_made_up_for_in_several() throws Exception {
        schedules.declare(Schedule.fixedRate("s", Duration.ofSeconds(1))
                .job(new Report("old"))
                .misfire(Misfire.ALL));
        missedSince("2500 seconds");
        schedules.declare(daily());
        assertThat(scheduledAt()).doesNotHaveDuplicates().hasSizeGreaterThan(2_500);
        assertThat(rowlock.events(ScheduleFired.class)).hasSizeGreaterThan(2);
        assertThat(schema.count("SELECT count(DISTINCT xmin::text) FROM rowlock_job"))
                .isGreaterThan(2);
        assertThat(nextAt()).isAfter(clock());
    }

    @Test
    void what_was_missed_while_the_server_refused_it_is_made_up_for_too() throws Exception {
        schedules.declare(hourly().misfire(Misfire.ALL));
        missedSince("4 hours 30 minutes");
        schema.update("UPDATE rowlock_schedule SET failures = 8, error = 'disk full',"
                + " retry_at = clock_timestamp() + interval '30 minutes'");
        assertThat(schedules.declare(daily())).isTrue();
        assertThat(scheduledAt()).hasSize(5);
        assertThat(nextAt()).isAfter(clock());
    }

    @Test
    void another_payload_alone_tells_nobody_as_equal_ones_may_be_written_in_another_order() throws Exception {
        schedules.declare(hourly());
        assertThat(schedules.declare(
                        Schedule.fixedRate("s", Duration.ofHours(1)).job(new Report("written otherwise"))))
                .isFalse();
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isZero();
        assertThat(schema.one(String.class, "SELECT payload::text FROM rowlock_schedule"))
                .hasValueSatisfying(payload -> assertThat(payload).contains("old"));
    }

    @Test
    void what_a_pause_covers_is_left_out_all_the_same() throws Exception {
        schedules.declare(hourly().misfire(Misfire.ALL));
        schedules.pause("s", ADA);
        missedSince("5 hours");
        assertThat(schedules.declare(daily())).isTrue();
        assertThat(scheduledAt()).isEmpty();
        assertThat(nextAt()).isAfter(clock());
    }

    @Test
    void what_this_process_cannot_read_or_the_server_refuses_keeps_no_declaration_from_being_written()
            throws Exception {
        schedules.declare(hourly());
        schema.execute("UPDATE rowlock_schedule SET every = NULL, cron = 'on full moon', zone = 'UTC'");
        missedSince("1 hour");
        assertThat(schedules.declare(daily())).isTrue();

        missedSince("1 day");
        schema.execute("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " RAISE EXCEPTION 'not this one'; END $$;"
                + "CREATE TRIGGER refuse BEFORE INSERT ON rowlock_job FOR EACH ROW EXECUTE FUNCTION refuse()");
        assertThat(schedules.declare(hourly().revision(3))).isTrue();
        assertThat(nextAt()).isAfter(clock());
        assertThat(scheduledAt()).isEmpty();
    }

    @Test
    void blanks_between_fields_are_no_change() throws Exception {
        schedules.declare(Schedule.cron("s", " 0  4 *   * * ", BERLIN).job(new Report("new")));
        assertThat(schema.one(String.class, "SELECT cron FROM rowlock_schedule"))
                .contains("0 4 * * *");
        schema.execute("UPDATE rowlock_schedule SET cron = '0  4  * * *'"); // as an earlier version wrote it
        missedSince("1 hour");
        Instant missed = nextAt();

        assertThat(schedules.declare(daily().revision(1))).isFalse();
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert"))
                .as("it is the same content")
                .isZero();
        assertThat(schedules.declare(daily())).isTrue();
        assertThat(nextAt()).as("it is the same timing").isEqualTo(missed);
    }
}
