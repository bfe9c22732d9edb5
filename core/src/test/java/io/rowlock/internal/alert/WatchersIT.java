package io.rowlock.internal.alert;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.AlertLimits;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.ClockCompared;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.internal.sql.WatchSql.Horizon;
import io.rowlock.job.By;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is alerted of by looking, each above its limit only, and not again while a person knows. */
@PostgresTest
final class WatchersIT {
    @Kind("mine")
    private record Mine() {}

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final AlertLimits LIMITS = AlertLimits.standard()
            .unknownKind(MINUTE)
            .queueLag(MINUTE)
            .snapshotPinned(Duration.ofHours(1))
            .workersLost(2);

    private TestSchema schema;
    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    private Watchers watchers(AlertLimits limits, Clock clock) {
        return new Watchers(
                new Names(schema.name(), "rowlock_"),
                limits,
                new Watchers.Worker("me-1", "me", Set.of("default", "q2"), Set.of("mine", "also-mine")),
                clock);
    }

    private List<AlertRaised> look(AlertCause cause) throws Exception {
        return look(watchers(LIMITS, Clock.systemUTC()), cause).orElseThrow();
    }

    private Optional<List<AlertRaised>> look(Watchers watchers, AlertCause cause) throws Exception {
        return rowlock.commit(connection -> watchers.look(connection, cause));
    }

    private void job(String queue, String kind, String due, String more) throws Exception {
        String[] parts = more.isEmpty() ? new String[] {"", ""} : more.split("=", 2);
        schema.execute("INSERT INTO rowlock_job (queue, kind, payload, run_at" + (more.isEmpty() ? "" : ", " + parts[0])
                + ") VALUES ('" + queue + "', '" + kind + "', '{}', clock_timestamp() - interval '" + due + "'"
                + (more.isEmpty() ? "" : ", " + parts[1]) + ")");
    }

    private void lease(String kind, String until) throws Exception {
        schema.execute("UPDATE rowlock_job SET locked_by = 'somebody', attempts = 1, token = 1, locked_until ="
                + " clock_timestamp() + interval '" + until + "' WHERE kind = '" + kind + "'");
    }

    @Test
    @Tag("B18")
    void a_kind_that_nobody_works_on_is_named_when_its_job_has_waited_too_long() throws Exception {
        job("default", "mine", "1 hour", "");
        job("default", "orphan", "2 minutes", "");
        job("default", "young", "30 s", "");
        job("default", "future", "-1 hour", "");
        job("other", "mine", "2 minutes", "");
        job("q2", "keyed", "2 minutes", "ordering_key='k'");
        job("q2", "limited", "2 minutes", "limit_key='k'");
        job("default", "begun", "2 minutes", "");
        lease("begun", "1 minute");
        job("default", "begun", "2 minutes", "");
        job("default", "left", "1 hour", "");
        lease("left", "-30 minutes");
        job("default", "low", "2 minutes", "priority=2");

        assertThat(look(AlertCause.UNKNOWN_KIND))
                .extracting(AlertRaised::kind)
                .containsExactlyInAnyOrder("orphan", "mine", "keyed", "limited", "left", "low");
        assertThat(rowlock.rowlock().alerts().open(AlertFilter.all().kind("mine"), null, 10))
                .singleElement()
                .satisfies(alert -> assertThat(alert.reason()).contains("queue other", "me-1 does not"));
    }

    @Test
    void a_paused_queue_has_no_unknown_kinds_and_its_lag_names_who_paused_it() throws Exception {
        job("default", "mine", "1 hour", "");
        job("default", "orphan", "1 hour", "");
        rowlock.rowlock().queues().pause("default", new By("ada", "maintenance"));

        assertThat(look(AlertCause.UNKNOWN_KIND)).isEmpty();
        assertThat(look(AlertCause.QUEUE_LAG))
                .singleElement()
                .satisfies(alert -> assertThat(alert.reason()).contains("is paused since", "by ada, resume it"));
    }

    @Test
    void a_lane_of_the_workers_own_lags_when_its_oldest_job_has_waited_too_long() throws Exception {
        job("default", "mine", "50 s", "");
        job("default", "foreign", "1 hour", "");
        job("foreign", "mine", "1 hour", "");
        assertThat(look(AlertCause.QUEUE_LAG)).isEmpty();

        job("default", "mine", "2 hours", "");
        lease("mine", "1 minute");
        assertThat(look(AlertCause.QUEUE_LAG)).as("it has begun").isEmpty();

        job("default", "mine", "2 minutes", "");
        job("q2", "also-mine", "3 minutes", "ordering_key='k'");
        assertThat(look(AlertCause.QUEUE_LAG))
                .extracting(AlertRaised::kind)
                .containsExactlyInAnyOrder("mine", "also-mine");
    }

    @Test
    void an_alert_of_a_kind_names_all_its_queues_and_of_many_the_first() throws Exception {
        job("default", "mine", "2 hours", "");
        job("default", "mine", "3 hours", "priority=2");
        job("q2", "mine", "4 hours", "");
        rowlock.rowlock().queues().pause("q2", new By("ada", "maintenance"));
        for (int i = 10; i < 22; i++) {
            job("their-" + i, "orphan", "2 hours", "");
        }

        assertThat(look(AlertCause.QUEUE_LAG))
                .singleElement()
                .satisfies(alert -> assertThat(alert.reason())
                        .containsSubsequence(
                                "in queue q2: the queue is paused since", "by ada", "in queue default: are there"));
        assertThat(look(AlertCause.UNKNOWN_KIND))
                .singleElement()
                .satisfies(alert -> assertThat(alert.reason())
                        .contains("in queue their-", "and in 2 queues more", "me-1 does not"));
    }

    @Test
    void what_somebodys_sql_wrote_is_no_obstacle() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, run_at) VALUES ('mine', '{}', '-infinity'), ('odd', '{}', '-infinity')");

        assertThat(look(AlertCause.QUEUE_LAG)).hasSize(1);
        assertThat(look(AlertCause.UNKNOWN_KIND)).hasSize(1);
    }

    @Test
    void what_lasts_is_counted_up_every_ten_minutes_and_told_again_an_hour_after_an_acknowledge() throws Exception {
        job("default", "mine", "1 hour", "");

        assertThat(look(AlertCause.QUEUE_LAG)).hasSize(1);
        assertThat(look(AlertCause.QUEUE_LAG)).isEmpty();
        assertThat(schema.count("SELECT n FROM rowlock_alert")).isEqualTo(1);

        schema.execute("UPDATE rowlock_alert SET last_at = last_at - interval '11 minutes'");
        look(AlertCause.QUEUE_LAG);
        assertThat(schema.count("SELECT sum(n)::bigint FROM rowlock_alert")).isEqualTo(2);

        rowlock.rowlock().alerts().acknowledgeAll(AlertFilter.all(), new By("ada", "I know"));
        assertThat(look(AlertCause.QUEUE_LAG)).as("she knows").isEmpty();
        schema.execute("UPDATE rowlock_alert SET acknowledged_at = acknowledged_at - interval '61 minutes'");
        assertThat(look(AlertCause.QUEUE_LAG)).hasSize(1);
    }

    @Test
    void only_one_process_looks_at_a_time_and_the_next_one_at_once() throws Exception {
        job("default", "mine", "1 hour", "");
        try (Connection first = schema.begin()) {
            assertThat(watchers(LIMITS, Clock.systemUTC()).look(first, AlertCause.QUEUE_LAG))
                    .hasValueSatisfying(raised -> assertThat(raised).hasSize(1));
            assertThat(look(watchers(LIMITS, Clock.systemUTC()), AlertCause.CLOCK_SKEW))
                    .isEmpty();
            first.rollback();
        }
        assertThat(look(AlertCause.QUEUE_LAG)).hasSize(1);
    }

    @Test
    @Tag("B58")
    void an_open_snapshot_is_told_of_by_backend_application_and_state() throws Exception {
        rowlock = TestRowlock.fresh(
                schema, builder -> builder.alertLimits(AlertLimits.none().snapshotPinned(Duration.ofSeconds(1))));
        var source = schema.dataSource();
        source.setApplicationName("yearly-report");
        try (Connection report = source.getConnection();
                Statement statement = report.createStatement();
                Worker worker = rowlock.work(w -> w.handle(Mine.class, (mine, job) -> {}))) {
            report.setAutoCommit(false);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            int pid;
            try (var row = statement.executeQuery("SELECT pg_backend_pid(), (SELECT count(*) FROM rowlock_job)")) {
                row.next();
                pid = row.getInt(1);
            }
            soon().until(() -> !pinned().isEmpty());
            assertThat(pinned().get(0).reason())
                    .contains(
                            "Backend " + pid,
                            "application=yearly-report",
                            "role=" + schema.user(),
                            "idle in transaction",
                            "pg_terminate_backend(" + pid + ")");
            assertThat(pinned().get(0).kind()).isEqualTo("transaction");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.events(AlertRaised.class)).isNotEmpty();
    }

    private List<Alert> pinned() {
        return rowlock.rowlock().alerts().open(AlertFilter.all().cause(AlertCause.SNAPSHOT_PINNED), null, 10);
    }

    @Test
    @Tag("B58")
    void a_transaction_that_only_writes_pins_too() throws Exception {
        Watchers soonest = watchers(AlertLimits.none().snapshotPinned(Duration.ofSeconds(1)), Clock.systemUTC());
        try (Connection writer = schema.begin();
                Statement statement = writer.createStatement()) {
            statement.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('x', '{}')");
            soon().until(() -> {
                look(soonest, AlertCause.SNAPSHOT_PINNED);
                return pinned().stream().anyMatch(alert -> alert.kind().equals("transaction"));
            });
        }
    }

    @Test
    @Tag("B58")
    void a_slot_that_does_not_move_is_told_of_when_it_has_not_for_long() {
        Watchers watchers = watchers(LIMITS, Clock.systemUTC());
        Horizon still = new Horizon("replication slot", "old", "700", 5_000, false);
        long hour = Duration.ofHours(1).toNanos();

        assertThat(watchers.stale(List.of(still), MINUTE, 0)).isEmpty();
        assertThat(watchers.stale(List.of(still), MINUTE, hour))
                .singleElement()
                .satisfies(
                        cause -> assertThat(cause.reason()).contains("replication slot old (not connected)", "5000"));
        Horizon moved = new Horizon("replication slot", "old", "701", 5_000, false);
        assertThat(watchers.stale(List.of(moved), MINUTE, hour + 1)).isEmpty();
        Horizon near = new Horizon("replication slot", "idle", "900", 3, false);
        watchers.stale(List.of(near), MINUTE, 0);
        assertThat(watchers.stale(List.of(near), MINUTE, hour))
                .as("nothing happens, and nothing piles up")
                .isEmpty();
    }

    @Test
    @Tag("B24")
    void a_worker_tells_its_listeners_how_far_its_clock_is_off() throws Exception {
        rowlock = TestRowlock.fresh(
                schema,
                builder -> builder.alertLimits(AlertLimits.none()
                        .clockSkew(Duration.ofSeconds(2))
                        .unknownKind(Duration.ofSeconds(2)))); // looks are as often as that asks for
        try (Worker worker = rowlock.work(w -> w.handle(Mine.class, (mine, job) -> {}))) {
            soon().until(() -> !rowlock.events(ClockCompared.class).isEmpty());
            assertThat(rowlock.events(ClockCompared.class).get(0)).satisfies(compared -> {
                assertThat(compared.worker()).isEqualTo(worker.id());
                assertThat(compared.ahead().abs()).isLessThan(compared.within().plus(Duration.ofSeconds(2)));
            });
        }

        Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-3));
        ClockCompared compared =
                rowlock.commit(connection -> watchers(LIMITS, behind).compared(connection));
        assertThat(compared.ahead())
                .isCloseTo(Duration.ofMinutes(-3), compared.within().plusSeconds(1));
    }

    @Test
    @Tag("B24")
    void a_clock_that_differs_is_told_of_and_one_that_does_not_is_not() throws Exception {
        AlertLimits limits = AlertLimits.none().clockSkew(Duration.ofSeconds(10));
        assertThat(look(watchers(limits, Clock.systemUTC()), AlertCause.CLOCK_SKEW))
                .hasValueSatisfying(raised -> assertThat(raised).isEmpty());

        Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofSeconds(40));
        assertThat(look(watchers(limits, ahead), AlertCause.CLOCK_SKEW).orElseThrow())
                .singleElement()
                .satisfies(raised -> {
                    assertThat(raised.kind()).isEqualTo("me");
                    assertThat(raised.reason()).contains("worker me-1", "ahead of");
                });
        schema.execute("TRUNCATE rowlock_alert");
        Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-40));
        assertThat(look(watchers(limits, behind), AlertCause.CLOCK_SKEW).orElseThrow())
                .singleElement()
                .satisfies(raised -> assertThat(raised.reason()).contains("behind"));
    }

    @Test
    void workers_that_are_lost_too_often_are_counted_by_the_kind_they_had() throws Exception {
        for (String kind : List.of("mine", "foreign", "also-mine")) {
            job("default", kind, "0 s", "");
        }
        schema.execute("INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                + " SELECT id, n, CASE kind WHEN 'also-mine' THEN 'same' ELSE 'w' || n END, 'worker lost', 'm', 's'"
                + " FROM rowlock_job, generate_series(1, 3) n");
        schema.execute("UPDATE rowlock_job_failure SET at = date_trunc('minute', at) WHERE worker = 'same'");

        assertThat(look(AlertCause.WORKER_LOST)).singleElement().satisfies(raised -> {
            assertThat(raised.kind())
                    .as("of one lost worker many jobs are one loss")
                    .isEqualTo("mine");
            assertThat(raised.reason()).contains("3 times");
        });
    }

    @Test
    void a_rescue_is_what_counts_as_a_lost_worker() throws Exception {
        long id = rowlock.enqueue(new Mine()).id();
        for (int ghost = 1; ghost <= 2; ghost++) {
            int lost = ghost;
            schema.execute(
                    "UPDATE rowlock_job SET state = 'ready', finished_at = NULL, run_at = clock_timestamp(), attempts = 1,"
                            + " token = token + 1, losses = 0, locked_by = 'ghost-' || ?,"
                            + " locked_until = clock_timestamp() - interval '1 s' WHERE id = ?",
                    ghost,
                    id);
            try (Worker worker = rowlock.work(w -> w.handle(Mine.class, (mine, job) -> {}))) {
                soon().until(() -> rowlock.events(JobRescued.class).size() == lost);
                rowlock.awaitState(id, JobState.COMPLETED);
                assertThat(worker.health().up()).isTrue();
            }
        }

        Watchers twice = watchers(AlertLimits.none().workersLost(2), Clock.systemUTC());
        assertThat(look(twice, AlertCause.WORKER_LOST).orElseThrow()).isEmpty();
        Watchers once = watchers(AlertLimits.none().workersLost(1), Clock.systemUTC());
        assertThat(look(once, AlertCause.WORKER_LOST).orElseThrow())
                .singleElement()
                .satisfies(raised -> assertThat(raised.reason()).contains("2 times (jobs=1", "workers=ghost-"));
    }

    @Test
    @Tag("P10")
    void a_look_that_takes_too_long_is_ended_and_keeps_no_claim_waiting() throws Exception {
        try (Connection holder = schema.begin();
                Statement lock = holder.createStatement()) {
            lock.execute("LOCK TABLE rowlock_job IN ACCESS EXCLUSIVE MODE");

            assertThatThrownBy(() -> look(AlertCause.QUEUE_LAG))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            ended -> assertThat(SqlState.of(ended)).isEqualTo("57014"));
        }
        assertThat(look(AlertCause.QUEUE_LAG)).isEmpty();
    }

    @Test
    void what_is_switched_off_is_not_looked_at() throws Exception {
        job("default", "mine", "1 hour", "");
        Watchers none = watchers(AlertLimits.none(), Clock.systemUTC());
        assertThat(none.causes()).isEmpty();
        assertThat(look(none, AlertCause.QUEUE_LAG)).isEmpty();
    }
}
