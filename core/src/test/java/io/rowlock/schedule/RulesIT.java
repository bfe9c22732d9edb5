package io.rowlock.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of missed instants and of such that overlap; the rules of declarations; daylight saving. */
@PostgresTest
final class RulesIT {
    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final By ADA = new By("ada", "a test");

    @Kind("report")
    private record Report(String name) {}

    @Kind("other")
    private record Other() {}

    private TestSchema schema;
    private TestRowlock rowlock;
    private Schedules schedules;
    private HandCrankedWorker worker;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schedules = rowlock.rowlock().schedules();
        worker = rowlock.rowlock().handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}));
    }

    @AfterEach
    void close() {
        worker.close();
    }

    private Schedule<Report> hourly() {
        return Schedule.fixedRate("hourly", Duration.ofHours(1)).job(new Report("r"));
    }

    private void nextAt(String instant) throws Exception {
        assertThat(schema.update("UPDATE rowlock_schedule SET next_at = " + instant))
                .isEqualTo(1);
    }

    private List<Instant> scheduledAt() throws Exception {
        return schema
                .list(String.class, "SELECT headers->>'rowlock-scheduled-at' FROM rowlock_job ORDER BY id")
                .stream()
                .map(Instant::parse)
                .toList();
    }

    private ScheduleView view(String name) {
        return schedules.find(name).orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"ONCE, 1", "ALL, 5", "NONE, 0"})
    void instants_missed_for_hours_make_one_job_or_each_one_or_none(Misfire misfire, int jobs) throws Exception {
        schedules.declare(hourly().misfire(misfire));
        nextAt(
                "date_trunc('hour', clock_timestamp()) + interval '30 s' - interval '4 hours 1 minute'"
                        + " + CASE WHEN extract(minute FROM clock_timestamp()) < 2 THEN interval '-10 minutes' ELSE interval '0' END");
        Instant oldest = view("hourly").course().nextAt();

        worker.drain();

        assertThat(scheduledAt()).hasSize(jobs);
        if (misfire == Misfire.ONCE) {
            assertThat(scheduledAt()).containsExactly(oldest.plus(Duration.ofHours(4)));
        }
        if (misfire == Misfire.ALL) {
            assertThat(scheduledAt().get(0)).isEqualTo(oldest);
        }
        assertThat(view("hourly").course().nextAt()).isEqualTo(oldest.plus(Duration.ofHours(5)));
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE next_at > clock_timestamp()"))
                .isEqualTo(1);
    }

    @Test
    void what_is_late_by_seconds_is_no_misfire() throws Exception {
        schedules.declare(hourly().misfire(Misfire.NONE));
        nextAt("clock_timestamp() - interval '20 s'");
        worker.drain();
        assertThat(scheduledAt()).hasSize(1);
    }

    @Test
    void a_cron_at_rest_for_years_fires_once_for_the_last_instant() throws Exception {
        schedules.declare(Schedule.cron("each-second", "* * * 1 1 *", UTC).job(new Report("r")));
        nextAt("'2021-01-01T00:00:00Z'");
        worker.drain();
        assertThat(scheduledAt())
                .containsExactly(Instant.parse(
                                view("each-second").course().nextAt().toString().substring(0, 4) + "-01-01T00:00:00Z")
                        .atZone(UTC)
                        .minusYears(1)
                        .withHour(23)
                        .withMinute(59)
                        .withSecond(59)
                        .toInstant());
    }

    @ParameterizedTest
    @CsvSource({"ALLOW, 2", "SKIP, 1", "QUEUE, 2"})
    void an_instant_while_the_job_before_waits_is_allowed_skipped_or_queued(Overlap overlap, int jobs)
            throws Exception {
        schedules.declare(hourly().overlap(overlap));
        nextAt("clock_timestamp()");
        worker.drain();
        nextAt("clock_timestamp()");
        worker.drain();

        assertThat(scheduledAt()).hasSize(jobs);
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE next_at > clock_timestamp()"))
                .isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE ordering_key = 'schedule/hourly'"))
                .isEqualTo(overlap == Overlap.QUEUE ? 2 : 0);
        schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp()");
        nextAt("clock_timestamp()");
        worker.drain();
        assertThat(scheduledAt()).hasSize(jobs + 1);
    }

    @Test
    void the_higher_revision_counts_whoever_starts_last() throws Exception {
        schedules.declare(hourly());
        Instant first = view("hourly").course().nextAt();
        assertThat(schedules.declare(hourly().revision(2).queue("night"))).isTrue();
        assertThat(view("hourly").course().nextAt())
                .as("the timing is the same")
                .isEqualTo(first);
        assertThat(schedules.declare(hourly())).as("an old process starts").isFalse();
        assertThat(schedules.declare(hourly().revision(2).queue("day")))
                .as("other content")
                .isFalse();
        assertThat(view("hourly").rules().queue()).isEqualTo("night");
        assertThat(view("hourly").revision()).isEqualTo(2);

        schedules.pause("hourly", ADA);
        schedules.declare(Schedule.fixedRate("hourly", Duration.ofDays(9))
                .job(new Report("r"))
                .revision(3));
        assertThat(view("hourly").course().pausedBy()).isEqualTo("ada");
        assertThat(view("hourly").timing()).isEqualTo("every PT216H");
        assertThat(view("hourly").course().nextAt()).isAfter(first.plus(Duration.ofDays(8)));
    }

    @Test
    void what_was_removed_comes_back_by_a_higher_revision_only() throws Exception {
        schedules.declare(hourly());
        schedules.remove("hourly", ADA);
        try (HandCrankedWorker old = TestRowlock.beside(schema)
                .rowlock()
                .handCrankedWorker(w -> w.schedule(hourly()).handle(Other.class, (other, job) -> {}))) {
            old.drain();
        }
        assertThat(view("hourly").course().removedAt()).isNotNull();
        assertThat(view("hourly").course().nextAt()).isNull();
        assertThat(schedules.declare(hourly().revision(2))).isTrue();
        assertThat(view("hourly").course().removedAt()).isNull();
        assertThat(view("hourly").course().nextAt()).isNotNull();
    }

    @Test
    void a_paused_schedule_makes_no_job_and_leaves_out_what_came_meanwhile() throws Exception {
        schedules.declare(hourly().misfire(Misfire.ALL));
        schedules.pause("hourly", ADA);
        nextAt("clock_timestamp() - interval '150 minutes'");
        Instant old = view("hourly").course().nextAt();
        worker.drain();
        assertThat(scheduledAt()).isEmpty();
        schedules.resume("hourly", ADA);
        worker.drain();
        assertThat(scheduledAt()).isEmpty();
        assertThat(view("hourly").course().nextAt()).isEqualTo(old.plus(Duration.ofHours(3)));
    }

    @Test
    void a_fixed_delay_that_is_changed_while_its_job_is_unfinished_waits_for_it_all_the_same() throws Exception {
        schedules.declare(Schedule.fixedDelay("tidy", Duration.ofHours(1)).job(new Report("r")));
        nextAt("clock_timestamp()");
        worker.drain();
        schedules.declare(Schedule.fixedDelay("tidy", Duration.ofHours(2))
                .job(new Report("r"))
                .revision(2));
        nextAt("clock_timestamp()");
        worker.drain();
        assertThat(scheduledAt()).hasSize(1);
        assertThat(view("tidy").course().nextAt()).isNull();

        schema.execute("UPDATE rowlock_job SET state = 'completed', finished_at = '2125-01-01T00:00:00Z'");
        worker.drain();
        assertThat(view("tidy").course().nextAt()).isEqualTo(Instant.parse("2125-01-01T02:00:00Z"));
    }

    @Test
    void pages_follow_each_other() throws Exception {
        for (int i = 1; i <= 5; i++) {
            schedules.declare(Schedule.fixedDelay("s" + i, Duration.ofHours(1)).job(new Report("r")));
        }
        List<ScheduleView> first = schedules.all(null, 3);
        List<ScheduleView> second = schedules.all(first.get(2).name(), 3);
        assertThat(first).extracting(ScheduleView::name).containsExactly("s1", "s2", "s3");
        assertThat(second).extracting(ScheduleView::name).containsExactly("s4", "s5");
    }

    @Test
    @Tag("P15")
    void what_cannot_be_is_refused_in_words_before_any_sql() throws Exception {
        assertThatThrownBy(() -> Schedule.cron("x", "61 * * * *", UTC))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("\"61 * * * *\" cannot be read");
        assertThatThrownBy(() -> Schedule.cron("x", "@dayly", UTC))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("\"@dayly\" cannot be read")
                .hasMessageContaining("such as @daily");
        for (String odd : List.of("0 2 * *", "2", "0 0 2 * * MON 2026")) {
            assertThatThrownBy(() -> Schedule.cron("x", odd, UTC))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageMatching("The cron expression \"" + Pattern.quote(odd)
                            + "\" has \\d fields?; five fields are wanted \\(minute, .*\\), or six with seconds first");
        }
        assertThatThrownBy(() -> Schedule.cron("x", "0 0 30 2 *", UTC))
                .isInstanceOf(InvalidUseException.class)
                .hasMessage("The cron expression \"0 0 30 2 *\" never comes");
        assertThat(Schedule.cron("x", " @daily ", UTC).job(new Report("r")).timing())
                .isEqualTo(new Timing.Cron("@daily", UTC));
        assertThatThrownBy(() -> Schedule.fixedRate("x", Duration.ofMillis(1))).hasMessageContaining("between PT1S");
        assertThatThrownBy(() -> Schedule.fixedRate(" ", Duration.ofHours(1)))
                .hasMessageContaining("must not be blank");
        assertThatThrownBy(() -> Schedule.fixedRate("x".repeat(191), Duration.ofHours(1)))
                .hasMessageContaining("at most 190 characters, got 191");
        assertThatThrownBy(() -> hourly().misfire(Misfire.ALL).overlap(Overlap.SKIP))
                .hasMessageContaining("Overlap.QUEUE");
        assertThatThrownBy(() -> schedules.pause("x", null)).hasMessageContaining("Say who");
        assertThatThrownBy(() -> schedules.all(null, 0)).hasMessageContaining("between 1 and 1000");
        assertThatThrownBy(() -> schedules.declare(Schedule.fixedRate("x", Duration.ofHours(1))
                        .job(JobKind.named("report", String.class), "text")
                        .queue(" ")))
                .hasMessageContaining("queue must not be blank");
        assertThat(schedules.all(null, 10)).isEmpty();
    }

    /** The JVM's zone is not touched: it is neither of the two, and a session's zone is Asia/Tokyo. */
    @ParameterizedTest
    @Tag("B32")
    @CsvSource(
            delimiter = '|',
            value = {
                "Europe/Berlin    | 5 2 * * *    | 2025-03-29T01:05:00Z | 2025-03-30T01:00:00Z | 2025-03-31T00:05:00Z",
                "Europe/Berlin    | 30 2 * * *   | 2025-10-25T00:30:00Z | 2025-10-26T00:30:00Z | 2025-10-27T01:30:00Z",
                "Europe/Berlin    | */15 * * * * | 2025-10-26T00:45:00Z | 2025-10-26T01:00:00Z | 2025-10-26T01:15:00Z",
                "America/New_York | 30 2 * * *   | 2025-03-08T07:30:00Z | 2025-03-09T07:00:00Z | 2025-03-10T06:30:00Z",
                "America/New_York | 30 1 * * *   | 2025-11-01T05:30:00Z | 2025-11-02T05:30:00Z | 2025-11-03T06:30:00Z",
                "America/New_York | */15 * * * * | 2025-11-02T05:45:00Z | 2025-11-02T06:00:00Z | 2025-11-02T06:15:00Z"
            })
    void clocks_put_forward_and_back(String zone, String cron, Instant one, Instant two, Instant three)
            throws Exception {
        assertThat(ZoneId.systemDefault()).isNotEqualTo(ZoneId.of(zone));
        schedules.declare(Schedule.cron("daily", cron, ZoneId.of(zone))
                .job(new Report("r"))
                .misfire(Misfire.ALL));
        nextAt("'" + one + "'");
        try (HandCrankedWorker tokyo = io.rowlock.Rowlock.builder()
                .connections(() -> {
                    var connection = schema.connect();
                    connection.createStatement().execute("SET TIME ZONE 'Asia/Tokyo'");
                    return connection;
                })
                .schema(schema.name())
                .build()
                .handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}))) {
            tokyo.runNext();
        }
        assertThat(scheduledAt().subList(0, 3)).containsExactly(one, two, three);
        assertThat(scheduledAt()).doesNotHaveDuplicates();
        if (!cron.startsWith("*")) {
            assertThat(scheduledAt().stream()
                            .map(at -> at.atZone(ZoneId.of(zone)).toLocalDate()))
                    .as("once per local date")
                    .doesNotHaveDuplicates();
        }
    }
}
