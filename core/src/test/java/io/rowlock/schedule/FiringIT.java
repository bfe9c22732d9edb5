package io.rowlock.schedule;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each instant of a schedule makes one job, whoever declared it and however many workers race. */
@PostgresTest
final class FiringIT {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final By ADA = new By("ada", "a test");

    @Kind("report")
    private record Report(String name) {}

    @Kind("other")
    private record Other() {}

    private TestSchema schema;
    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    private List<Instant> scheduledAt(String name) throws Exception {
        return schema
                .list(
                        String.class,
                        "SELECT headers->>'rowlock-scheduled-at' FROM rowlock_job WHERE subject = ? ORDER BY id",
                        "schedule:" + name)
                .stream()
                .map(Instant::parse)
                .toList();
    }

    private void due(String name, String when) throws Exception {
        assertThat(schema.update("UPDATE rowlock_schedule SET next_at = " + when + " WHERE name = ?", name))
                .isEqualTo(1);
    }

    @Test
    @Tag("B16")
    void ten_workers_make_one_job_of_each_instant() throws Exception {
        for (int i = 0; i < 3; i++) {
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.fixedRate("rate-" + i, Duration.ofSeconds(1))
                            .job(new Report("r"))
                            .misfire(Misfire.ALL));
            due("rate-" + i, "date_trunc('second', clock_timestamp()) - interval '2500 seconds'");
        }
        List<Worker> workers = new ArrayList<>();
        try {
            for (int i = 0; i < 10; i++) {
                workers.add(TestRowlock.beside(schema).work(w -> w.handle(Other.class, (other, job) -> {})));
            }
            soon().until(() -> schema.count(
                            "SELECT count(*) FROM rowlock_schedule WHERE next_at > clock_timestamp() - interval '1 s'")
                    == 3);
            soon().until(() -> scheduledAt("rate-2").size() > 2_502);
            assertThat(workers)
                    .allSatisfy(each -> assertThat(each.health().loops()).isEmpty());
        } finally {
            workers.forEach(worker -> worker.stop(Duration.ZERO));
        }
        for (int i = 0; i < 3; i++) {
            List<Instant> made = scheduledAt("rate-" + i);
            assertThat(made).doesNotHaveDuplicates().hasSizeGreaterThan(2_500);
            for (int each = 1; each < made.size(); each++) {
                assertThat(Duration.between(made.get(each - 1), made.get(each))).isEqualTo(Duration.ofSeconds(1));
            }
        }
    }

    @Test
    void a_worker_declares_its_schedules_and_runs_their_jobs() throws Exception {
        CountDownLatch ran = new CountDownLatch(2);
        List<Map<String, String>> headers = new ArrayList<>();

        try (Worker worker = rowlock.work(w -> w.schedule(
                        Schedule.cron("each-second", "* * * * * *", BERLIN).job(new Report("all")))
                .handle(Report.class, (report, job) -> {
                    synchronized (headers) {
                        headers.add(job.headers());
                    }
                    ran.countDown();
                }))) {
            soon().until(() -> ran.getCount() == 0);
            assertThat(worker.health().loops()).isEmpty();
        }

        Job first = rowlock.rowlock().jobs().ofSubject("schedule:each-second").get(0);
        assertThat(first.kind()).isEqualTo("report");
        assertThat(rowlock.content(first.id()).payload()).isEqualTo("{\"name\":\"all\"}");
        synchronized (headers) {
            assertThat(headers.get(0).get("rowlock-scheduled-at"))
                    .isEqualTo(scheduledAt("each-second").get(0).toString());
        }
        assertThat(scheduledAt("each-second"))
                .doesNotHaveDuplicates()
                .allSatisfy(at -> assertThat(at).isEqualTo(at.truncatedTo(ChronoUnit.SECONDS)));
    }

    @Test
    void a_worker_cranked_by_hand_fires_what_is_due() throws Exception {
        List<String> ran = new ArrayList<>();
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.schedule(
                                Schedule.cron("nightly", "0 2 * * *", BERLIN).job(new Report("night")))
                        .handle(Report.class, (report, job) -> ran.add(report.name())))) {
            assertThat(worker.drain()).isZero();
            due("nightly", "clock_timestamp() - interval '3 s'");
            assertThat(worker.drain()).isEqualTo(1);
            assertThat(worker.drain()).isZero();
        }
        assertThat(ran).containsExactly("night");
    }

    @Test
    void a_fixed_delay_counts_from_the_end_of_its_job_also_when_that_is_dead_or_gone() throws Exception {
        rowlock.rowlock()
                .schedules()
                .declare(Schedule.fixedDelay("tidy", Duration.ofHours(1)).job(new Report("t")));
        due("tidy", "clock_timestamp()");
        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}))) {
            worker.drain();
            worker.drain();
            assertThat(scheduledAt("tidy")).hasSize(1);
            assertThat(rowlock.rowlock()
                            .schedules()
                            .find("tidy")
                            .orElseThrow()
                            .course()
                            .nextAt())
                    .isNull();
            schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = '2026-01-01T00:00:00Z'");
            worker.drain();
            assertThat(schema.one(Instant.class, "SELECT next_at FROM rowlock_schedule WHERE last_at IS NOT NULL"))
                    .isEmpty();
            assertThat(scheduledAt("tidy")).hasSize(2);
            schema.execute("DELETE FROM rowlock_job");
            worker.drain();
            assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE next_at BETWEEN clock_timestamp()"
                            + " + interval '58 minutes' AND clock_timestamp() + interval '61 minutes'"))
                    .isEqualTo(1);
        }
    }

    @Test
    @Tag("B16")
    void an_instant_whose_transaction_is_cut_off_fires_again_and_once() throws Exception {
        rowlock.rowlock()
                .schedules()
                .declare(Schedule.fixedRate("hourly", Duration.ofHours(1)).job(new Report("r")));
        schema.execute("CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " PERFORM pg_advisory_xact_lock(hashtext(current_schema())); RETURN NEW; END $$;"
                + "CREATE TRIGGER stall AFTER UPDATE ON rowlock_schedule FOR EACH ROW EXECUTE FUNCTION stall()");
        try (Connection gate = schema.begin();
                Worker one = rowlock.start(w -> w.handle(Other.class, (other, job) -> {}))) {
            gate.createStatement().execute("SELECT pg_advisory_xact_lock(hashtext(current_schema()))");
            try (Connection setting = schema.begin()) {
                setting.createStatement().execute("SET LOCAL session_replication_role = replica");
                setting.createStatement()
                        .execute("UPDATE rowlock_schedule SET next_at = clock_timestamp() - interval '1 s'");
                setting.commit();
            }
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.fixedRate("wake", Duration.ofHours(9)).job(new Other()));
            String atIt =
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND wait_event = 'advisory'";
            soon().until(() -> schema.count(atIt, schema.name()) == 1);
            schema.list(
                    Boolean.class,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ? AND wait_event = 'advisory'",
                    schema.name());
            soon().until(() -> schema.count(atIt, schema.name()) == 1);
            assertThat(scheduledAt("hourly")).isEmpty();
            gate.commit();
            soon().until(() -> scheduledAt("hourly").size() == 1);
            soon().until(() -> one.health().loops().isEmpty());
        } finally {
            schema.execute("DROP TRIGGER stall ON rowlock_schedule; DROP FUNCTION stall");
        }
        assertThat(scheduledAt("hourly")).hasSize(1);
        assertThat(rowlock.count(JobState.READY)).isEqualTo(1);
    }

    @Test
    void a_person_runs_pauses_and_removes_it_and_each_time_a_row_says_who_and_why() throws Exception {
        Schedules schedules = rowlock.rowlock().schedules();
        Schedule<Report> nightly = Schedule.cron("nightly", "0 2 * * *", BERLIN).job(new Report("n"));
        schedules.declare(nightly);

        long job = schedules.runNow("nightly", ADA).orElseThrow().id();
        assertThat(schedules.pause("nightly", ADA)).isTrue();
        assertThat(schedules.pause("nightly", ADA)).isFalse();
        assertThat(schedules.resume("nightly", ADA)).isTrue();
        assertThat(schedules.resume("nightly", ADA)).isFalse();
        assertThat(schedules.remove("nightly", ADA)).isTrue();
        assertThat(schedules.remove("nightly", ADA)).isFalse();
        assertThat(schedules.runNow("nightly", ADA)).isEmpty();
        assertThat(schedules.pause("unknown", ADA)).isFalse();

        assertThat(rowlock.job(job).kind()).isEqualTo("report");
        assertThat(
                        schema.list(
                                String.class,
                                "SELECT what || ' ' || who || ' ' || schedule || ' ' || (job_id IS NOT NULL) FROM rowlock_operation ORDER BY id"))
                .containsExactly(
                        "run now ada nightly true",
                        "pause ada nightly false",
                        "resume ada nightly false",
                        "remove ada nightly false");
    }
}
