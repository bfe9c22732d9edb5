package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements that read what people did, whose plans are pinned, and rows for them. */
final class OperationStatements {
    private OperationStatements() {}

    /** Ten times as many as a page looks at. */
    static void load(TestSchema schema) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_operation (who, why, what, job_id, saga, schedule, alert, lease)"
                        + " SELECT 'ada', 'INC-' || n, 'revive', CASE WHEN n % 2 = 0 THEN n / 2 END,"
                        + " CASE WHEN n % 4 = 1 THEN 'saga-' || n END, CASE WHEN n % 8 = 3 THEN 'schedule-' || n % 100 END,"
                        + " CASE WHEN n % 8 = 7 THEN n END, CASE WHEN n % 8 = 5 THEN 'lease-' || n % 100 END FROM generate_series(1, 100000) n");
    }

    static List<Pinned> all() {
        return List.of(
                pin("operations", OperationBookSql.NEWEST, List.of("rowlock_operation_pk"), page(null, null)),
                pin(
                        "operations-on-queue",
                        OperationBookSql.NEWEST,
                        List.of("rowlock_operation_pk"),
                        page(null, "default")),
                pin("operations-on-job", OperationBookSql.OF_JOB, List.of("rowlock_operation_job"), page(700L, null)),
                pin(
                        "operations-on-saga",
                        OperationBookSql.OF_SAGA,
                        List.of("rowlock_operation_saga"),
                        page("saga-701", null)),
                pin(
                        "operations-on-schedule",
                        OperationBookSql.OF_SCHEDULE,
                        List.of("rowlock_operation_schedule_id"),
                        page("schedule-3", null)),
                pin(
                        "operations-on-alert",
                        OperationBookSql.OF_ALERT,
                        List.of("rowlock_operation_alert"),
                        page(7L, null)),
                pin(
                        "operations-on-lease",
                        OperationBookSql.OF_LEASE,
                        List.of("rowlock_operation_lease_id"),
                        page("lease-5", null)),
                pin(
                        "operations-on-subject",
                        OperationBookSql.OF_SUBJECT,
                        List.of(
                                "rowlock_job_subject",
                                "rowlock_saga_subject",
                                "rowlock_operation_job",
                                "rowlock_operation_saga"),
                        page("Order:42", null)));
    }

    private static @Nullable Object[] page(@Nullable Object on, @Nullable String queue) {
        return new @Nullable Object[] {90_000L, on, "bob", null, null, null, 100, queue};
    }
}
