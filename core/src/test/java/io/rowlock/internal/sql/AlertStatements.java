package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** The statements of alerts whose plans are pinned, and rows for them. */
final class AlertStatements {
    private AlertStatements() {}

    /** So many alerts that most are acknowledged, a few open, and fewer untold. */
    static void load(TestSchema schema) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason, untold, acknowledged_at, acknowledged_by)"
                        + " SELECT 'job dead', 'kind-' || n % 50, date_trunc('hour', statement_timestamp()) - n / 50 * interval '1 hour', 'r',"
                        + " n % 1000 = 1, CASE WHEN n % 10 > 1 THEN clock_timestamp() END, CASE WHEN n % 10 > 1 THEN 'ada' END"
                        + " FROM generate_series(1, 20000) n");
    }

    static List<Pinned> all() {
        List<String> key = List.of("rowlock_alert_pk");
        List<String> once = List.of("rowlock_alert_once");
        List<String> due = List.of("rowlock_job_due", "rowlock_queue_pk");
        List<String> keyed = List.of("rowlock_job_keyed", "rowlock_queue_pk");
        long minute = Sql.micros(Duration.ofMinutes(1));
        Object queues = Sql.texts(List.of("default", "default", "default"));
        Object kinds = Sql.texts(List.of("mine", "mine", "mine"));
        Object levels = Sql.integers(List.of(0, 1, 2));
        return List.of(
                pin(
                        "raise-alert",
                        AlertSql.RAISE,
                        List.of("rowlock_alert_pk", "rowlock_alert_once", "rowlock_job_pk"),
                        "job dead",
                        Sql.texts(List.of("mine", "kind-1")),
                        Sql.bigints(List.of(1L, 2L)),
                        Sql.texts(List.of("reason", "reason")),
                        Sql.texts(Arrays.asList(null, "Order:42"))),
                pin("find-alert", AlertBookSql.FIND, key, 1L),
                pin(
                        "open-alerts",
                        AlertBookSql.OPEN,
                        List.of("rowlock_alert_open", "rowlock_alert_pk"),
                        null,
                        null,
                        null,
                        null,
                        null,
                        100),
                pin("acknowledged-alerts", AlertBookSql.ACKNOWLEDGED, key, null, null, null, null, null, 100),
                pin(
                        "acknowledge-alerts",
                        AlertBookSql.ACKNOWLEDGE,
                        List.of("rowlock_alert_pk", "rowlock_alert_open"),
                        Sql.bigints(List.of(1L, 2L)),
                        "ada",
                        "why"),
                pin("untold-alerts", TellSql.WAITING, List.of("rowlock_alert_untold")),
                pin(
                        "tell-alerts",
                        TellSql.TELL,
                        List.of("rowlock_alert_untold", "rowlock_alert_pk", "rowlock_alert_once"),
                        "lock",
                        100),
                pin("watch-lag", WatchSql.LAG, due, queues, kinds, levels, minute, 1_000),
                pin("watch-keyed-lag", WatchSql.LAG_KEYED, keyed, queues, kinds, levels, minute, 1_000),
                pin("watch-foreign", WatchSql.FOREIGN, due, queues, kinds, minute),
                pin("watch-keyed-foreign", WatchSql.FOREIGN_KEYED, keyed, queues, kinds, minute),
                pin(
                        "watch-lost",
                        WatchSql.LOST,
                        List.of("rowlock_job_failure_lost", "rowlock_job_pk"),
                        Sql.texts(List.of("mine")),
                        5),
                pin("watch-quiet", WatchSql.QUIET, once, "job dead", Sql.texts(List.of("kind-1", "kind-2"))));
    }
}
