package io.rowlock.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.alert.AlertFilter;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.ScheduleNotFired;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Processes of two versions, and of two applications, that declare differing schedules on one database. */
@PostgresTest
@Tag("B14")
final class RollingDeployIT {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final By ADA = new By("ada", "renamed");

    @Kind("tick")
    private record Tick(String of) {}

    private TestSchema schema;
    private final List<String> ran = new ArrayList<>();

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock.fresh(schema);
    }

    private HandCrankedWorker process(Schedule<?>... schedules) {
        return TestRowlock.beside(schema).rowlock().handCrankedWorker(w -> {
            for (Schedule<?> each : schedules) {
                w.schedule(each);
            }
            w.handle(Tick.class, (tick, job) -> ran.add(tick.of()));
        });
    }

    private static Schedule<Tick> daily() {
        return Schedule.cron("r1", "0 2 * * *", BERLIN).job(new Tick("r1 daily"));
    }

    private static Schedule<Tick> often() {
        return Schedule.fixedRate("r1", Duration.ofMinutes(5))
                .job(new Tick("r1 often"))
                .revision(2);
    }

    private static Schedule<Tick> other(String name) {
        return Schedule.fixedRate(name, Duration.ofHours(1)).job(new Tick(name));
    }

    /** All that stand are due. */
    private void makeDue() throws Exception {
        schema.execute(
                "UPDATE rowlock_schedule SET next_at = clock_timestamp() - interval '1 s' WHERE next_at IS NOT NULL");
    }

    private List<String> rows() throws Exception {
        return schema.list(
                String.class,
                "SELECT name || ' ' || revision || coalesce(' removed ' || removed_at::date::text, '') FROM rowlock_schedule"
                        + " ORDER BY name");
    }

    @Test
    void the_newest_declaration_counts_once_and_nothing_is_removed_by_those_that_do_not_know_it() throws Exception {
        try (HandCrankedWorker older = process(daily(), other("r2"))) {
            older.drain();
            try (HandCrankedWorker newer = process(often(), other("r3"))) {
                newer.drain();
                assertThat(rows()).containsExactly("r1 2", "r2 1", "r3 1");
                for (HandCrankedWorker leader : List.of(older, newer, older)) {
                    makeDue();
                    ran.clear();
                    leader.drain();
                    assertThat(ran)
                            .as("whichever process fires them")
                            .containsExactlyInAnyOrder("r1 often", "r2", "r3");
                }
            }
        }
    }

    @Test
    void a_roll_back_brings_no_older_declaration_back_and_a_renamed_one_is_removed_by_a_person() throws Exception {
        process(often(), other("r3")).close();
        try (HandCrankedWorker rolledBack = process(daily(), other("r2"))) {
            makeDue();
            rolledBack.drain();
            assertThat(ran).containsExactlyInAnyOrder("r1 often", "r2", "r3");
        }
        try (HandCrankedWorker renamed = process(often(), other("r2-renamed"))) {
            TestRowlock.beside(schema).rowlock().schedules().remove("r2", ADA);
            makeDue();
            ran.clear();
            renamed.drain();
            assertThat(ran).containsExactlyInAnyOrder("r1 often", "r2-renamed", "r3");
        }
        process(daily(), other("r2")).close(); // one that was slow to stop starts once more
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE name = 'r2' AND removed_at IS NULL"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule")).isEqualTo(4);
    }

    @Test
    void two_applications_leave_each_others_schedules_alone() throws Exception {
        try (HandCrankedWorker shop = process(other("shop"));
                HandCrankedWorker bank = process(other("bank"))) {
            makeDue();
            shop.drain();
            assertThat(ran).containsExactlyInAnyOrder("shop", "bank");
            ran.clear();
            bank.drain();
            assertThat(ran).isEmpty();
            assertThat(rows()).containsExactly("bank 1", "shop 1");
        }
    }

    @Test
    void two_applications_that_declare_one_name_at_once_are_told_of_and_one_of_them_counts() throws Exception {
        Schedule<Tick> shops =
                Schedule.fixedRate("cleanup", Duration.ofHours(1)).job(new Tick("shop"));
        Schedule<Tick> banks = Schedule.cron("cleanup", "0 4 * * *", BERLIN).job(new Tick("bank"));
        TestRowlock shop = TestRowlock.beside(schema);
        TestRowlock bank = TestRowlock.beside(schema);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        List<Boolean> written = new ArrayList<>();
        try {
            CyclicBarrier start = new CyclicBarrier(2);
            List<Future<Boolean>> both = List.of(
                    threads.submit(() -> {
                        start.await();
                        return shop.rowlock().schedules().declare(shops);
                    }),
                    threads.submit(() -> {
                        start.await();
                        return bank.rowlock().schedules().declare(banks);
                    }));
            for (Future<Boolean> each : both) {
                written.add(each.get());
            }
        } finally {
            threads.shutdown();
        }
        assertThat(written).containsExactlyInAnyOrder(true, false);
        TestRowlock loser = written.get(0) ? bank : shop;
        assertThat(loser.events(ScheduleNotFired.class))
                .singleElement()
                .satisfies(event -> assertThat(event.reason())
                        .contains("other content under revision 1")
                        .contains("give one of them another"));
        assertThat(loser.events(AlertRaised.class)).hasSize(1);
        assertThat((written.get(0) ? shop : bank).events(ScheduleNotFired.class))
                .isEmpty();
        assertThat(schema.list(String.class, "SELECT cause || ': ' || kind || ' ' || n FROM rowlock_alert"))
                .containsExactly("schedule not firing: cleanup 1");
        assertThat(loser.rowlock().checkup()).anySatisfy(finding -> {
            assertThat(finding.code()).isEqualTo("schedule-not-firing");
            assertThat(finding.seen()).contains("'cleanup'").contains("other content under revision 1");
            assertThat(finding.remedy()).contains(" schedules list\n").contains(" alerts acknowledge ");
        });

        process(written.get(0) ? shops : banks).close();
        assertThat(schema.count("SELECT n FROM rowlock_alert"))
                .as("what the row has is no clash")
                .isEqualTo(1);
        loser.rowlock().alerts().acknowledgeAll(AlertFilter.all(), ADA);
        assertThat(loser.rowlock().checkup())
                .noneMatch(finding -> finding.code().equals("schedule-not-firing"));
    }
}
