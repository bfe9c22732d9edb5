package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Statements about one job, key or queue whose plans are pinned; and all statements there are. */
final class SingleStatements {
    /** Statements without a plan worth pinning, and why. */
    static final Map<String, String> EXEMPT = Map.ofEntries(
            Map.entry("AdvisoryLockSql.TRY", "no table"),
            Map.entry("AdvisoryLockSql.MINE", "locks of one session; no table"),
            Map.entry("AdvisoryLockSql.THEIRS", "locks of one session; no table"),
            Map.entry("AdvisoryLockSql.UNLOCK", "no table"),
            Map.entry("CheckupSql.BEGIN", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.CLOCK", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.SETTINGS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.SOURCE", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.AS_BEGUN", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.CONNECTIONS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.STANDBYS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.OLD_TRANSACTIONS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.PREPARED", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.SLOTS_BACK", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.SLOTS_INACTIVE", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckupSql.SEES_OTHERS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.INVALID_INDEXES", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.INDEXES", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.UNLOGGED", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.TRIGGERS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.RULES", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.ROW_SECURITY", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.REPLICA_IDENTITY", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.AUTOVACUUM_OFF", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.OPTIONS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.DEAD_ROWS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.TABLE_BLOAT", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.INDEX_BLOAT", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.MISSING_RIGHTS", "for a checkup; reads catalogue and statistics"),
            Map.entry("CheckedTablesSql.OWNER", "for a checkup; reads catalogue and statistics"),
            Map.entry("QueueSql.ALL", "for people, of a table that is small"),
            Map.entry("QueueSql.RECORD", "inserts one row"),
            Map.entry("WaitingSql.PAUSED", "see LookupPlansIT"),
            Map.entry("AnswerSql.RECORD", "inserts one row"),
            Map.entry("WaitingSql.NOT_FIRING", "for a checkup; the newest 1,000 open alerts"),
            Map.entry("ClaimSql.BRING_FORWARD", "for workers cranked by hand, in tests"),
            Map.entry("DedupSql.DRAW_IDS", "reads a sequence"),
            Map.entry(
                    "DedupSql.ENQUEUE_OR_LOCK_WAITING",
                    "as DedupSql.ENQUEUE: inserts, and looks for conflicts by a unique index"),
            Map.entry(
                    "DedupSql.ENQUEUE_OR_LOCK_ONCE",
                    "as DedupSql.ENQUEUE: inserts, and looks for conflicts by a unique index"),
            Map.entry("CountSql.COUNT", "see LookupPlansIT"),
            Map.entry("CountSql.LANES", "see LookupPlansIT"),
            Map.entry("FindSql.ALL", "see LookupPlansIT"),
            Map.entry("FindSql.FINISHED", "see LookupPlansIT"),
            Map.entry("FindSql.LANES", "see LookupPlansIT"),
            Map.entry("FindSql.OF_SUBJECT", "see LookupPlansIT"),
            Map.entry("FindSql.SET_ASIDE", "see LookupPlansIT"),
            Map.entry("IdempotencySql.LOCK", "reads no table"),
            Map.entry("LookupSql.BY_KIND", "for small tables, as its Javadoc says"),
            Map.entry("LookupSql.COUNTS", "counts the whole table, as its Javadoc says"),
            Map.entry("NotifySql.NOTIFY", "reads no table"),
            Map.entry("NotifySql.SESSION", "reads no table"),
            Map.entry("NotifySql.LISTEN", "reads no table"),
            Map.entry("NotifySql.UNLISTEN", "reads no table"),
            Map.entry("OneJobSql.ISOLATION", "reads no table"),
            Map.entry("OneJobSql.TRANSACTION", "reads no table"),
            Map.entry("OneJobSql.COMMITTED", "reads no table"),
            Map.entry("ScheduleOperationSql.CLOCK", "reads no table"),
            Map.entry("ScheduleOperationSql.PAGE", "for people, of a table that is small"),
            Map.entry("SchemaSql.LOCK", "at the start"),
            Map.entry("SchemaSql.EXISTS", "at the start"),
            Map.entry("SchemaSql.VERSION", "at the start"),
            Map.entry("SchemaSql.INSTALLATION", "at the start"),
            Map.entry("SchemaSql.RECORD", "at the start"),
            Map.entry("SchemaSql.CATALOGUE", "at the start"),
            Map.entry("SchemaSql.DATABASE", "at the start"),
            Map.entry("PoolerSql.BACKEND", "reads no table"),
            Map.entry("SessionSql.LIMITS", "reads no table"),
            Map.entry("TellSql.REGISTER", "about once an hour, of a table of a few rows"),
            Map.entry("TellSql.SINKS", "of a table of a few rows"),
            Map.entry("WatchSql.TRY_LOCK", "reads no table"),
            Map.entry("WatchSql.PINNED", "reads the server's views"),
            Map.entry("WatchSql.HORIZONS", "reads the server's views"),
            Map.entry("WatchSql.CLOCK", "reads no table"),
            Map.entry("SessionSql.LOCK_TIMEOUT", "reads no table"),
            Map.entry("SessionSql.WROTE", "reads no table"));

    private SingleStatements() {}

    /** A statement of the engine, by the name of its field. */
    record Named(String name, String template) {}

    /** All fields of the package's classes that hold a tagged statement. */
    static List<Named> ofPackage() throws Exception {
        Path classes = Path.of(
                Sql.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<Named> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve("io/rowlock/internal/sql"))) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                if (!name.contains("$") && !name.equals("package-info")) {
                    all.addAll(of(Class.forName("io.rowlock.internal.sql." + name)));
                }
            }
        }
        return all;
    }

    private static List<Named> of(Class<?> holder) throws IllegalAccessException {
        List<Named> all = new ArrayList<>();
        for (Field field : holder.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                field.setAccessible(true);
                String text = (String) field.get(null);
                if (text.startsWith("/* rowlock:")) {
                    all.add(new Named(holder.getSimpleName() + '.' + field.getName(), text));
                }
            }
        }
        return all;
    }

    /** @param held the id of a job that is leased by me under token 1 */
    static List<Pinned> all(long held) {
        return Stream.of(ofJobs(held), ofWaiting(), ofOperations(held), ofCancelRequests(held))
                .flatMap(List::stream)
                .toList();
    }

    private static List<Pinned> ofCancelRequests(long held) {
        List<String> request = List.of("rowlock_cancel_request_pk");
        List<String> requests = List.of("rowlock_cancel_request_pk", "rowlock_job_pk");
        return List.of(
                pin("request-cancel", CancelRequestSql.REQUEST, List.of(), held, "by hand"),
                pin("requested-cancels", CancelRequestSql.PENDING, requests, 1_000),
                pin(
                        "do-cancels",
                        CancelRequestSql.DO,
                        requests,
                        Sql.bigints(List.of(held)),
                        Sql.bigints(List.of(held + 1))),
                pin("asked-cancels", CancelRequestSql.ASKED, request, Sql.bigints(List.of(held))),
                pin("cancel-requested", OneJobSql.CANCEL_REQUESTED, request, held),
                pin("withdraw-cancel", CancelRequestSql.WITHDRAW, request, held));
    }

    private static List<Pinned> ofJobs(long held) {
        long second = Sql.micros(Duration.ofSeconds(1));
        List<String> job = List.of("rowlock_job_pk");
        List<String> requests = List.of("rowlock_cancel_request_pk", "rowlock_job_pk");
        List<String> key = List.of("rowlock_key_pk");
        List<String> queue = List.of("rowlock_queue_pk");
        List<String> failures = List.of("rowlock_job_failure_job");
        Object places = Sql.texts(List.of("(0,1)", "(0,2)"));
        return List.of(
                pin("lock-one", OneJobSql.LOCK, job, held, 1L, "me"),
                pin("held-one", OneJobSql.HELD, job, held, 1L, "me"),
                pin("complete-one", OneJobSql.COMPLETE, requests, held, 1L, "me", null),
                pin(
                        "delete-one",
                        OneJobSql.DELETE,
                        List.of("rowlock_cancel_request_pk", "rowlock_job_pk", "rowlock_job_failure_job"),
                        held,
                        1L,
                        "me",
                        null),
                pin("put-back-one", OneJobSql.PUT_BACK, requests, held, 1L, "me", null, second),
                pin("lock-key", OperationSql.LOCK_KEY, key, "default", "key-1"),
                pin("try-lock-key", OperationSql.TRY_LOCK_KEY, key, "default", "key-1"),
                pin("try-lock-job", OperationSql.TRY_LOCK, job, held),
                pin("cancel", OperationSql.CANCEL, job, held, "by hand"),
                pin("revive", OperationSql.REVIVE, job, held),
                pin("record-operation", OperationSql.RECORD, List.of(), "ada", "by hand", "skip", held),
                pin(
                        "unblock-key",
                        KeySql.UNBLOCK,
                        List.of("rowlock_key_pk", "rowlock_key_blocked"),
                        "default",
                        "key-1",
                        held),
                pin("unblock-keys", KeySql.UNBLOCK_REVIVED, job, places),
                pin("job-by-id", LookupSql.BY_ID, job, held),
                pin("failures", LookupSql.FAILURES, failures, held),
                pin("fates", OutcomeSql.FATES, job, Sql.bigints(List.of(held, held + 1))),
                pin("find-queue", QueueSql.FIND, queue, "default"),
                pin("pause-queue", QueueSql.PAUSE, queue, "default", "me"),
                pin("resume-queue", QueueSql.RESUME, queue, "default"),
                pin("dead-head-policy", QueueSql.DEAD_HEAD, queue, "default", "block"),
                pin(
                        "enqueue",
                        EnqueueSql.ENQUEUE,
                        List.of(),
                        Sql.texts(List.of("default")),
                        Sql.texts(List.of("mine")),
                        Sql.integers(List.of(1)),
                        Sql.texts(List.of("Order:42")),
                        Sql.texts(List.of("{}")),
                        Sql.texts(nothing()),
                        Sql.integers(nothing()),
                        Sql.texts(nothing()),
                        Sql.texts(nothing()),
                        Sql.instants(nothing()),
                        Sql.bigints(nothing())));
    }

    private static List<Pinned> ofWaiting() {
        return List.of(
                pin(
                        "waiting-lanes",
                        WaitingSql.LANES,
                        List.of("rowlock_job_due", "rowlock_job_suspect", "rowlock_job_keyed"),
                        500,
                        Sql.micros(Duration.ofSeconds(1))),
                pin("count-dead", WaitingSql.DEAD, List.of("rowlock_job_finished"), 1_000),
                pin(
                        "blocked-keys",
                        WaitingSql.BLOCKED,
                        List.of("rowlock_key_blocked", "rowlock_job_pk", "rowlock_job_order"),
                        "",
                        "",
                        100),
                pin(
                        "blocked-keys-of-queue",
                        WaitingSql.BLOCKED_OF_QUEUE,
                        List.of("rowlock_key_blocked", "rowlock_job_pk", "rowlock_job_order"),
                        "default",
                        "a",
                        100));
    }

    private static List<Pinned> ofOperations(long held) {
        List<String> job = List.of("rowlock_job_pk");
        return List.of(
                pin("where-are-jobs", OperationSql.WHERE_IS, job, Sql.bigints(List.of(held, held + 1))),
                pin("try-lock-jobs", OperationSql.TRY_LOCK_ALL, job, Sql.bigints(List.of(held, held + 1))),
                pin("delete-job", OperationSql.DELETE, List.of("rowlock_job_pk", "rowlock_job_failure_job"), held),
                pin("reschedule", OperationSql.RESCHEDULE, job, held, "2030-01-01T00:00:00Z"),
                pin("move", OperationSql.MOVE, job, held, "other"),
                pin(
                        "redact-jobs",
                        RedactionSql.REDACT,
                        List.of("rowlock_job_pk", "rowlock_job_failure_job"),
                        Sql.bigints(List.of(held, held + 1)),
                        "ada",
                        "asked for"),
                pin(
                        "alerts-about",
                        RedactionSql.ALERTS,
                        List.of("rowlock_alert_job", "rowlock_alert_subject", "rowlock_alert_pk", "rowlock_job_pk"),
                        "Order:42",
                        Sql.bigints(List.of(held, held + 1)),
                        "redacted",
                        0L,
                        100),
                pin(
                        "redact-alerts",
                        RedactionSql.REDACT_ALERTS,
                        List.of("rowlock_alert_pk"),
                        Sql.bigints(List.of(held, held + 1)),
                        "Order:42",
                        Sql.bigints(List.of(held, held + 1)),
                        "ada",
                        "asked for",
                        "redacted"),
                pin("jobs-about", RedactionSql.OF_SUBJECT, List.of("rowlock_job_subject"), "Order:42", 0L, 100),
                pin("jobs-by-ids", LookupSql.BY_IDS, job, Sql.bigints(List.of(held, held + 1))),
                pin("job-content", LookupSql.CONTENT, job, held));
    }

    private static <T> List<T> nothing() {
        List<T> one = new ArrayList<>();
        one.add(null);
        return one;
    }
}
