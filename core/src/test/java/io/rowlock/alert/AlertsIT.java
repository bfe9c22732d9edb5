package io.rowlock.alert;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.By;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Alerts are grouped as they are raised, read in pages, and taken over by a named person. */
@PostgresTest
final class AlertsIT {
    private static final By ADA = new By("ada", "I look at it");

    private TestSchema schema;
    private TestRowlock rowlock;
    private Alerts alerts;
    private AlertSql sql;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        alerts = rowlock.rowlock().alerts();
        sql = new AlertSql(new Names(schema.name(), "rowlock_"));
    }

    private void raise(AlertCause cause, String... kinds) throws Exception {
        rowlock.commit(connection -> sql.raise(connection, cause, about(kinds)));
    }

    private static List<Cause> about(String... kinds) {
        List<Cause> about = new ArrayList<>();
        for (String kind : kinds) {
            about.add(new Cause(kind, 7, "because of " + kind));
        }
        return about;
    }

    private List<Alert> open() {
        return alerts.open(AlertFilter.all(), null, 1_000);
    }

    @Test
    void an_alert_is_read_as_its_row_says() throws Exception {
        raise(AlertCause.JOB_DEAD, "mail", "mail");

        Alert alert = open().get(0);

        assertThat(alerts.find(alert.id())).contains(alert);
        assertThat(alert.knownCause()).contains(AlertCause.JOB_DEAD);
        assertThat(alert.kind()).isEqualTo("mail");
        assertThat(alert.count()).isEqualTo(2);
        assertThat(alert.reason()).isEqualTo("because of mail");
        assertThat(alert.job()).isEqualTo(7);
        assertThat(alert.acknowledged()).isNull();
        assertThat(alerts.find(alert.id() + 1)).isEmpty();
    }

    /** In Asia/Kolkata hours begin in the middle of those of UTC. */
    @Test
    void an_hour_is_the_same_hour_in_whatever_zone_a_session_is() throws Exception {
        List<String> zones = List.of("UTC", "Asia/Kolkata", "UTC", "Australia/Eucla");
        for (String zone : zones) {
            rowlock.commit(connection -> {
                try (var set = connection.createStatement()) {
                    set.execute("SET LOCAL TIME ZONE '" + zone + "'");
                }
                return sql.raise(connection, AlertCause.JOB_DEAD, about("mail"));
            });
        }

        assertThat(open())
                .singleElement()
                .satisfies(alert -> assertThat(alert.count()).isEqualTo(4));
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert"
                        + " WHERE extract(minute FROM bucket AT TIME ZONE 'UTC') = 0"))
                .isEqualTo(1);
    }

    @Test
    void a_kind_is_found_under_its_older_names_too() throws Exception {
        raise(AlertCause.JOB_DEAD, "old-k", "new-k", "other");
        AlertFilter renamed = AlertFilter.all().kind("new-k");
        assertThat(alerts.open(renamed, null, 10)).as("nobody knows of it yet").hasSize(1);
        rowlock.rowlock()
                .handCrankedWorker(
                        w -> w.handle(new JobKind<>("new-k", String.class, List.of("old-k")), (text, job) -> {}))
                .close();

        assertThat(alerts.open(renamed, null, 10)).extracting(Alert::kind).containsExactlyInAnyOrder("old-k", "new-k");
        assertThat(alerts.acknowledgeAll(renamed, ADA)).isEqualTo(2);
        assertThat(alerts.acknowledged(renamed, null, 10)).hasSize(2);
        assertThat(open()).extracting(Alert::kind).containsExactly("other");
    }

    @Test
    void a_cause_of_a_newer_version_is_read_too() throws Exception {
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason, job_id)"
                + " VALUES ('moon too full', 'k', clock_timestamp(), 'r', 0)");

        Alert alert = open().get(0);

        assertThat(alert.cause()).isEqualTo("moon too full");
        assertThat(alert.knownCause()).isEmpty();
        assertThat(alert.job()).as("0 stands for none").isNull();
    }

    @Test
    void open_alerts_come_in_pages_the_newest_first_and_by_filters() throws Exception {
        for (int i = 0; i < 25; i++) {
            raise(i % 5 == 0 ? AlertCause.QUEUE_LAG : AlertCause.JOB_DEAD, "kind-" + i);
        }
        schema.execute("UPDATE rowlock_alert SET last_at = last_at - interval '2 hours' WHERE kind = 'kind-3'");

        List<Alert> paged = new ArrayList<>();
        List<Alert> page = alerts.open(AlertFilter.all(), null, 10);
        while (!page.isEmpty()) {
            paged.addAll(page);
            page = alerts.open(AlertFilter.all(), page.get(page.size() - 1).id(), 10);
        }

        assertThat(paged).hasSize(25).isEqualTo(open());
        assertThat(paged.get(0).kind()).isEqualTo("kind-24");
        assertThat(alerts.open(AlertFilter.all().cause(AlertCause.QUEUE_LAG), null, 10))
                .hasSize(5);
        assertThat(alerts.open(AlertFilter.all().kind("kind-4"), null, 10)).hasSize(1);
        Instant hourAgo = paged.get(0).span().last().minus(Duration.ofHours(1));
        assertThat(alerts.open(AlertFilter.all().before(hourAgo), null, 10))
                .extracting(Alert::kind)
                .containsExactly("kind-3");
        assertThat(alerts.open(AlertFilter.all().since(hourAgo), null, 100)).hasSize(24);
        assertThatThrownBy(() -> alerts.open(AlertFilter.all(), null, 0)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void who_acknowledges_is_kept_once_in_the_row_and_among_the_operations() throws Exception {
        raise(AlertCause.JOB_DEAD, "mail");
        long id = open().get(0).id();

        assertThat(alerts.acknowledge(id, ADA)).isTrue();
        assertThat(alerts.acknowledge(id, new By("bob", "me too"))).isFalse();
        assertThat(alerts.acknowledge(id + 1, ADA)).isFalse();

        assertThat(open()).isEmpty();
        assertThat(alerts.find(id).orElseThrow().acknowledged())
                .isNotNull()
                .extracting(Alert.Acknowledgement::who, Alert.Acknowledgement::why)
                .containsExactly("ada", "I look at it");
        assertThat(schema.list(
                        String.class,
                        "SELECT who || ' ' || what || ' ' || alert || ': ' || why FROM rowlock_operation"))
                .containsExactly("ada acknowledge " + id + ": I look at it");
    }

    @Test
    void acknowledged_ones_are_listed_with_who_and_why_and_open_ones_are_not() throws Exception {
        raise(AlertCause.JOB_DEAD, "mail");
        raise(AlertCause.JOB_DEAD, "sms");
        raise(AlertCause.JOB_DEAD, "fax");
        alerts.acknowledgeAll(AlertFilter.all().kind("mail"), ADA);
        alerts.acknowledgeAll(AlertFilter.all().kind("fax"), ADA);

        assertThat(alerts.acknowledged(AlertFilter.all(), null, 10))
                .extracting(Alert::kind)
                .containsExactly("fax", "mail");
        List<Alert> first = alerts.acknowledged(AlertFilter.all(), null, 1);
        assertThat(alerts.acknowledged(AlertFilter.all(), first.get(0).id(), 1))
                .extracting(Alert::kind)
                .containsExactly("mail");
        assertThat(alerts.acknowledged(AlertFilter.all().kind("sms"), null, 10)).isEmpty();
        assertThatThrownBy(() -> alerts.acknowledged(AlertFilter.all(), null, 1_001))
                .isInstanceOf(InvalidUseException.class);
    }

    @Test
    void what_happens_after_an_acknowledge_opens_a_new_row() throws Exception {
        raise(AlertCause.JOB_DEAD, "mail");
        alerts.acknowledge(open().get(0).id(), ADA);

        raise(AlertCause.JOB_DEAD, "mail");
        raise(AlertCause.JOB_DEAD, "mail");

        assertThat(open()).hasSize(1);
        assertThat(open().get(0).count()).isEqualTo(2);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isEqualTo(2);
    }

    @Test
    void all_of_a_filter_are_acknowledged_in_batches_and_no_others() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason) SELECT CASE WHEN n <= 1234 THEN 'queue lag'"
                        + " ELSE 'job dead' END, 'kind-' || n, clock_timestamp(), 'r' FROM generate_series(1, 1300) n");

        assertThat(alerts.acknowledgeAll(AlertFilter.all().cause(AlertCause.QUEUE_LAG), ADA))
                .isEqualTo(1_234);
        assertThat(alerts.acknowledgeAll(AlertFilter.all().cause(AlertCause.QUEUE_LAG), ADA))
                .isZero();

        assertThat(open()).hasSize(66);
        assertThat(schema.count("SELECT count(DISTINCT alert) FROM rowlock_operation WHERE what = 'acknowledge'"))
                .isEqualTo(1_234);
    }

    @Test
    void a_row_that_somebody_has_locked_is_waited_for_a_while_only() throws Exception {
        raise(AlertCause.JOB_DEAD, "mail");
        long id = open().get(0).id();
        try (Connection holder = schema.begin();
                Statement lock = holder.createStatement()) {
            lock.execute("SELECT 1 FROM rowlock_alert FOR UPDATE");

            assertThatThrownBy(() -> alerts.acknowledge(id, ADA)).isInstanceOf(DatabaseException.class);
        }
        assertThat(alerts.acknowledge(id, ADA)).isTrue();
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(1);
    }

    @Test
    void what_twenty_threads_raise_at_once_is_counted_and_stands_in_one_row_a_kind() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(20);
        List<Future<?>> raising = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            raising.add(threads.submit(() -> {
                for (int j = 0; j < 25; j++) {
                    raise(AlertCause.JOB_DEAD, "b", "a", "c", "a");
                }
                return true;
            }));
        }
        for (Future<?> each : raising) {
            each.get();
        }
        threads.shutdown();

        assertThat(schema.list(
                        String.class, "SELECT kind || '=' || sum(n) FROM rowlock_alert GROUP BY kind ORDER BY kind"))
                .as("none is lost, whoever is in the way")
                .containsExactly("a=1000", "b=500", "c=500");
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert"))
                .as("who finds a row locked makes another one, which is counted up later")
                .isLessThan(100);
    }

    @Test
    void nothing_raised_beside_acknowledges_is_lost_or_closed_unseen() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<Long>> closing = new ArrayList<>();
        List<Future<?>> raising = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            raising.add(threads.submit(() -> {
                for (int j = 0; j < 100; j++) {
                    raise(AlertCause.JOB_DEAD, "mail");
                }
                return true;
            }));
            closing.add(threads.submit(() -> {
                long closed = 0;
                for (int j = 0; j < 50; j++) {
                    closed += alerts.acknowledgeAll(AlertFilter.all(), ADA);
                }
                return closed;
            }));
        }
        for (Future<?> each : raising) {
            each.get();
        }
        long closed = LongStream.of(
                        closing.get(0).get(),
                        closing.get(1).get(),
                        closing.get(2).get(),
                        closing.get(3).get())
                .sum();
        threads.shutdown();

        assertThat(schema.count("SELECT sum(n)::bigint FROM rowlock_alert")).isEqualTo(400);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(closed);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE last_at > acknowledged_at + interval '1 s'"))
                .isZero();
    }

    @Test
    void a_raise_that_waited_for_a_row_which_is_acknowledged_just_then_opens_it_again() throws Exception {
        try (Connection first = schema.begin()) {
            sql.raise(first, AlertCause.JOB_DEAD, about("mail"));
            ExecutorService threads = Executors.newSingleThreadExecutor();
            Future<?> second = threads.submit(() -> {
                raise(AlertCause.JOB_DEAD, "mail");
                return true;
            });
            soon().until(() -> schema.count(
                            "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                    + " AND wait_event_type = 'Lock'",
                            schema.name())
                    == 1);
            try (Statement acknowledge = first.createStatement()) {
                acknowledge.execute(
                        "UPDATE rowlock_alert SET acknowledged_at = clock_timestamp(), acknowledged_by = 'ada'");
            }
            first.commit();
            second.get();
            threads.shutdown();
        }
        assertThat(open()).hasSize(1);
        assertThat(open().get(0).count()).isEqualTo(2);
    }
}
