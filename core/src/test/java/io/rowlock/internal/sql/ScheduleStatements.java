package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements of schedules whose plans are pinned, and rows for them. */
final class ScheduleStatements {
    private static final String NOW = "2026-01-01T00:00:00Z";

    private ScheduleStatements() {}

    /** So many schedules that most are not due, some are, and a few wait for the ends of their jobs. */
    static void load(TestSchema schema) throws SQLException {
        schema.execute("INSERT INTO rowlock_schedule (name, revision, every, kind, payload, queue, priority, subject,"
                + " misfire, overlap, next_at) SELECT 'schedule-' || n, 1, interval '1 hour', 'mine', '{}', 'default', 1, 's',"
                + " 'once', 'allow', CASE WHEN n % 100 <> 0 THEN timestamptz '2026-01-01Z' + n % 2 * interval '900 years' END"
                + " FROM generate_series(1, 3000) n");
    }

    static List<Pinned> all() {
        List<String> key = List.of("rowlock_schedule_pk");
        List<String> waiting = List.of(
                "rowlock_schedule_waiting", "rowlock_operation_schedule_id", "rowlock_schedule_pk", "rowlock_job_pk");
        return List.of(
                pin(
                        "look-at-schedules",
                        ScheduleSql.LOOK,
                        List.of("rowlock_schedule_due"),
                        Sql.texts(List.of("a")),
                        100),
                pin("lock-schedule", ScheduleSql.LOCK, key, "schedule-2", false),
                pin(
                        "unfinished-job",
                        ScheduleSql.UNFINISHED,
                        List.of("rowlock_operation_schedule_id", "rowlock_job_pk"),
                        "schedule-2",
                        1L),
                pin("advance-schedule", ScheduleSql.ADVANCE, key, "schedule-2", NOW, NOW, NOW, 1L),
                pin("end-delays", ScheduleSql.END_DELAYS, waiting),
                pin("schedule-failed", ScheduleSql.FAILED, key, "schedule-2", "refused"),
                pin("note-error", ScheduleSql.NOTE_ERROR, key, "schedule-2", "refused"),
                pin("find-schedule", ScheduleOperationSql.FIND, key, "schedule-2"),
                pin("lock-schedule-to-change", ScheduleOperationSql.LOCK, key, "schedule-2"),
                pin("insert-schedule", ScheduleOperationSql.INSERT, key, declared("new")),
                pin("replace-schedule", ScheduleOperationSql.REPLACE, key, declared("schedule-2")),
                pin("pause-schedule", ScheduleOperationSql.PAUSE, key, "schedule-2", "ada"),
                pin("resume-schedule", ScheduleOperationSql.RESUME, key, "schedule-2", NOW),
                pin("remove-schedule", ScheduleOperationSql.REMOVE, key, "schedule-2"),
                pin("schedule-ran", ScheduleOperationSql.RAN, key, "schedule-2", NOW, 1L),
                pin("record-on-schedule", ScheduleOperationSql.RECORD, List.of(), "ada", "why", "pause", "s", null));
    }

    private static @Nullable Object[] declared(String name) {
        return new @Nullable Object[] {
            name, 2, "0 2 * * *", "UTC", null, null, "mine", "{}", "default", 1, "subject", "once", "allow", NOW
        };
    }
}
