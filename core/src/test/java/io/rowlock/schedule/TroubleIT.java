package io.rowlock.schedule;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.ScheduleNotFired;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** One schedule that cannot fire: others do, a person is told, and it goes on when it can. */
@PostgresTest
final class TroubleIT {
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

    private void declareDue(String... names) throws Exception {
        for (String name : names) {
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.cron(name, "0 2 * * *", ZoneId.of("UTC")).job(new Report(name)));
        }
        schema.execute("UPDATE rowlock_schedule SET next_at = clock_timestamp() - interval '10 minutes'");
    }

    private Worker work() {
        return rowlock.work(w -> w.handle(Other.class, (other, job) -> {}));
    }

    private boolean fired(String name) throws Exception {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE subject = ?", "schedule:" + name) > 0;
    }

    private List<String> alerts() throws Exception {
        return schema.list(String.class, "SELECT cause || ': ' || kind FROM rowlock_alert ORDER BY kind");
    }

    @Test
    void what_only_a_newer_version_can_read_is_told_of_and_left_as_it_is() throws Exception {
        declareDue("bad", "good", "lost");
        schema.execute("UPDATE rowlock_schedule SET cron = 'on full moon' WHERE name = 'bad';"
                + "UPDATE rowlock_schedule SET zone = 'Mars/Olympus' WHERE name = 'lost'");
        try (Worker worker = work()) {
            soon().until(() -> fired("good") && alerts().size() == 2);
            assertThat(worker.health().loops()).isEmpty();
            assertThat(rowlock.rowlock()
                            .schedules()
                            .find("lost")
                            .orElseThrow()
                            .course()
                            .error())
                    .contains("Mars/Olympus");
            schema.execute("UPDATE rowlock_schedule SET cron = '0 2 * * *' WHERE name = 'bad'");
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.fixedRate("wake", Duration.ofHours(1)).job(new Report("w")));
            soon().until(() -> fired("bad"));
        }
        assertThat(alerts()).containsExactly("schedule not firing: bad", "schedule not firing: lost");
        assertThat(fired("lost")).isFalse();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE name = 'lost' AND retry_at IS NULL"))
                .as("another worker may read it, and is not kept from it")
                .isEqualTo(1);
    }

    @Test
    void what_the_server_refuses_is_told_of_and_tried_again_later() throws Exception {
        declareDue("bad", "good");
        schema.execute("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " IF NEW.subject = 'schedule:bad' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$;"
                + "CREATE TRIGGER refuse BEFORE INSERT ON rowlock_job FOR EACH ROW EXECUTE FUNCTION refuse()");
        try (Worker worker = work()) {
            soon().until(() -> fired("good") && alerts().size() == 1);
            soon().until(() -> rowlock.events(AlertRaised.class).size() == 1);
            assertThat(rowlock.events(ScheduleNotFired.class)).singleElement().satisfies(event -> {
                assertThat(event.schedule()).isEqualTo("bad");
                assertThat(event.reason()).contains("not this one");
            });
            assertThat(worker.health().loops()).isEmpty();
            assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE name = 'bad' AND failures = 1"
                            + " AND retry_at > clock_timestamp() AND error LIKE '%not this one%'"))
                    .isEqualTo(1);
            schema.execute("DROP TRIGGER refuse ON rowlock_job;"
                    + "UPDATE rowlock_schedule SET retry_at = clock_timestamp() WHERE name = 'bad'");
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.fixedRate("wake", Duration.ofHours(1)).job(new Report("w")));
            soon().until(() -> fired("bad"));
            assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE name = 'bad' AND failures = 0"
                            + " AND error IS NULL AND retry_at IS NULL"))
                    .isEqualTo(1);
        }
    }

    @Test
    void a_row_that_stays_locked_is_told_of_while_others_fire() throws Exception {
        declareDue("bad", "good");
        try (Connection holder = schema.begin()) {
            holder.createStatement().execute("SELECT 1 FROM rowlock_schedule WHERE name = 'bad' FOR UPDATE");
            try (Worker worker = work()) {
                soon().until(() -> fired("good") && alerts().size() == 1);
                assertThat(worker.health().loops()).isEmpty();
                assertThatThrownBy(() -> rowlock.rowlock().schedules().pause("bad", new By("ada", "a test")))
                        .isInstanceOf(DatabaseException.class)
                        .hasMessageContaining("try again later");
                holder.rollback();
                soon().until(() -> fired("bad"));
            }
        }
        assertThat(alerts()).containsExactly("schedule not firing: bad");
    }

    @Test
    @Tag("B47")
    void ten_processes_declare_and_fire_at_once_where_the_default_is_repeatable_read() throws Exception {
        PGSimpleDataSource source = schema.dataSource();
        source.setOptions("-c default_transaction_isolation=repeatable\\ read");
        Schedule<Report> often = Schedule.fixedRate("often", Duration.ofSeconds(1))
                .job(new Report("r"))
                .misfire(Misfire.ALL);
        List<Worker> workers = new ArrayList<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> starts = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Worker worker = Rowlock.builder()
                        .dataSource(source)
                        .schema(schema.name())
                        .build()
                        .worker(w -> w.schedule(often).handle(Other.class, (other, job) -> {}));
                workers.add(worker);
                starts.add(threads.submit(worker::start));
            }
            Schedules strict = Rowlock.builder()
                    .dataSource(source)
                    .schema(schema.name())
                    .build()
                    .schedules();
            for (int i = 2; i <= 60; i++) {
                int revision = i;
                starts.add(threads.submit(() -> strict.declare(often.revision(revision))));
            }
            for (Future<?> each : starts) {
                each.get();
            }
            assertThat(strict.find("often").orElseThrow().revision()).isEqualTo(60);
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job") >= 3);
            assertThat(workers)
                    .allSatisfy(each -> assertThat(each.health().loops()).isEmpty());
        } finally {
            threads.shutdown();
            workers.forEach(worker -> worker.stop(Duration.ZERO));
        }
        assertThat(schema.count("SELECT count(*) - count(DISTINCT headers->>'rowlock-scheduled-at') FROM rowlock_job"))
                .isZero();
    }
}
