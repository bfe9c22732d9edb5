package io.rowlock.internal.sql;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The hot statements with parameters as the engine gives them, and the indexes each may use. */
final class PlannedStatements {
    private static final Instant LONG_AGO = Instant.parse("2020-01-01T00:00:00Z");

    private static final long MINUTE = Sql.micros(Duration.ofMinutes(1));
    private static final List<String> KEY = List.of("rowlock_job_pk");

    private PlannedStatements() {}

    /** A statement whose plan is pinned. */
    record Pinned(String name, String template, List<String> indexes, List<@Nullable Object> params) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Pinned pin(String name, String template, List<String> indexes, @Nullable Object... params) {
        return new Pinned(name, template, indexes, Arrays.asList(params));
    }

    /** The id of the first of at least 500 jobs of kind mine, of which the first 200 are leased by me under token 1. */
    static List<Pinned> all(long firstId) {
        return Stream.of(
                        unkeyed(firstId),
                        KeyedStatements.all(),
                        LimitedStatements.all(),
                        SingleStatements.all(firstId),
                        ScheduleStatements.all(),
                        AlertStatements.all(),
                        OperationStatements.all(),
                        IdempotencyStatements.all(),
                        LeaseStatements.all())
                .flatMap(List::stream)
                .toList();
    }

    static List<Pinned> unkeyed(long firstId) {
        return Stream.of(scans(firstId), prunes(), outcomes(firstId), enqueues(), retakes(firstId))
                .flatMap(List::stream)
                .toList();
    }

    private static List<Pinned> scans(long firstId) {
        Object ready = Sql.bigints(
                LongStream.range(firstId + 200, firstId + 400).boxed().toList());
        Object held =
                Sql.bigints(LongStream.range(firstId, firstId + 200).boxed().toList());
        Object queues = Sql.texts(List.of("default", "default", "default"));
        Object kinds = Sql.texts(List.of("mine", "mine", "mine"));
        Object priorities = Sql.integers(List.of(0, 1, 2));
        Object since = Sql.instants(Arrays.asList(null, LONG_AGO, null));
        Object most = Sql.integers(List.of(200, 200, 200));
        Object none = Sql.instants(Arrays.asList(null, null, null));
        Object queue = Sql.texts(List.of("default"));
        Object free = Sql.integers(List.of(200));
        Object from = Sql.bigints(Arrays.asList(null, 0L, null));
        Object mine = Sql.texts(List.of("mine", "default"));
        List<String> due = List.of("rowlock_job_due", "rowlock_job_pk", "rowlock_queue_pk");
        return List.of(
                pin(
                        "claim",
                        ClaimSql.CLAIM_DUE,
                        due,
                        "me",
                        MINUTE,
                        queue,
                        free,
                        Sql.texts(List.of("default", "default")),
                        Sql.integers(List.of(20, 200)),
                        Sql.integers(List.of(1, 2, 2)),
                        kinds,
                        Sql.integers(List.of(2, 0, 1)),
                        since,
                        most),
                pin(
                        "claim-found",
                        ClaimSql.CLAIM_FOUND,
                        List.of("rowlock_job_pk", "rowlock_queue_pk"),
                        "me",
                        MINUTE,
                        ready,
                        ready,
                        mine,
                        mine),
                pin(
                        "walk",
                        SweepSql.WALK,
                        due,
                        Sql.integers(List.of(0, 1, 2)),
                        queues,
                        kinds,
                        priorities,
                        since,
                        from,
                        300,
                        none),
                pin(
                        "walk-suspects",
                        SweepSql.WALK_SUSPECTS,
                        List.of("rowlock_job_suspect"),
                        queues,
                        kinds,
                        priorities,
                        300),
                pin("rescue", SweepSql.RESCUE, KEY, held, mine, Sql.integers(List.of(50))),
                pin("jobs-by-subject", LookupSql.BY_SUBJECT, List.of("rowlock_job_subject"), "Order:42"));
    }

    private static List<Pinned> prunes() {
        Object both = Sql.texts(List.of("mine", "foreign"));
        List<String> prune = List.of(
                "rowlock_job_pk",
                "rowlock_job_finished",
                "rowlock_job_failure_job",
                "rowlock_key_pk",
                "rowlock_key_blocked");
        return List.of(
                pin("prune", PruneSql.PRUNE, prune, "lock", both, 0L, null, 0L, 300, MINUTE, "completed"),
                pin("prune-dead", PruneSql.PRUNE, prune, "lock", both, 0L, null, 0L, 300, 0L, "dead"),
                pin(
                        "prune-alerts",
                        PruneSql.ALERTS,
                        List.of("rowlock_alert_past", "rowlock_alert_pk"),
                        "lock",
                        0L,
                        300),
                pin("prune-failures", PruneSql.FAILURES, List.of("rowlock_job_failure_at"), "lock", 0L, 300),
                pin(
                        "prune-operations",
                        PruneSql.OPERATIONS,
                        List.of("rowlock_operation_pk", "rowlock_saga_pk"),
                        "lock",
                        0L,
                        300,
                        0L),
                pin(
                        "prune-idempotency-keys",
                        PruneSql.IDEMPOTENCY_KEYS,
                        List.of("rowlock_idempotency_key_expiry"),
                        "lock",
                        300));
    }

    private static List<Pinned> outcomes(long firstId) {
        List<Long> ids = LongStream.range(firstId, firstId + 200).boxed().toList();
        Object held = Sql.bigints(ids);
        Object tokens = Sql.bigints(ids.stream().map(id -> 1L).toList());
        Object noes = Sql.booleans(ids.stream().map(id -> false).toList());
        Object texts = Sql.texts(ids.stream().map(String::valueOf).toList());
        List<String> deleting = List.of("rowlock_job_pk", "rowlock_job_failure_job");
        return List.of(
                pin("complete", OutcomeSql.COMPLETE, KEY, held, tokens, "me"),
                pin("complete-and-delete", OutcomeSql.COMPLETE_AND_DELETE, deleting, held, tokens, "me"),
                pin("heartbeat", OutcomeSql.HEARTBEAT, KEY, held, tokens, "me", MINUTE),
                pin("retry", OutcomeSql.RETRY, KEY, held, tokens, "me", held, noes, texts, texts, texts),
                pin("bury", OutcomeSql.BURY, KEY, held, tokens, "me", texts, texts, texts),
                pin("put-back", OutcomeSql.PUT_BACK, KEY, held, tokens, "me", held),
                pin("still-held", OutcomeSql.STILL_HELD, KEY, held, tokens, "me"));
    }

    /** Of jobs mine number 1400 to 1599 every other one waits under its key, key-number, and the others have lost it. */
    private static List<Pinned> enqueues() {
        List<Long> numbers = LongStream.range(1_400, 1_600).boxed().toList();
        List<@Nullable String> none = numbers.stream().map(n -> (String) null).toList();
        Object nulls = Sql.texts(none);
        Object noIds = Sql.bigints(numbers.stream().map(n -> (Long) null).toList());
        Object noNumbers =
                Sql.integers(numbers.stream().map(n -> (Integer) null).toList());
        Object noTimes = Sql.instants(numbers.stream().map(n -> (Instant) null).toList());
        Object kinds = Sql.texts(numbers.stream().map(n -> "mine").toList());
        Object keys = Sql.texts(numbers.stream().map(n -> "key-" + n).toList());
        Object modes = Sql.texts(numbers.stream().map(n -> "keep").toList());
        Object payloads = Sql.texts(numbers.stream().map(n -> "{}").toList());
        Object priorities = Sql.integers(numbers.stream().map(n -> 1).toList());
        Object yes = Sql.booleans(numbers.stream().map(n -> true).toList());
        List<String> waiting = List.of("rowlock_job_waiting");
        List<String> changing = List.of("rowlock_job_waiting", "rowlock_job_pk");
        return List.of(
                pin(
                        "enqueue-dedup",
                        DedupSql.ENQUEUE,
                        List.of(),
                        noIds,
                        kinds,
                        kinds,
                        priorities,
                        nulls,
                        payloads,
                        nulls,
                        noNumbers,
                        nulls,
                        nulls,
                        keys,
                        modes,
                        noTimes,
                        noIds),
                pin("keep-waiting", HolderSql.KEEP, waiting, kinds, keys),
                pin(
                        "change-waiting",
                        HolderSql.CHANGE,
                        changing,
                        kinds,
                        keys,
                        payloads,
                        nulls,
                        nulls,
                        yes,
                        noTimes,
                        noIds),
                pin("find-once", HolderSql.FIND_ONCE, List.of("rowlock_job_once"), kinds, keys));
    }

    private static List<Pinned> retakes(long firstId) {
        List<Long> ids =
                LongStream.range(firstId + 1_400, firstId + 1_600).boxed().toList();
        Object ready = Sql.bigints(ids);
        Object tokens = Sql.bigints(ids.stream().map(id -> 0L).toList());
        List<String> both = List.of("rowlock_job_pk", "rowlock_job_waiting");
        return List.of(
                pin("keyless", RetakeSql.KEYLESS, both, ready),
                pin("retake-key", RetakeSql.RETAKE, KEY, ready, tokens),
                pin(
                        "merge",
                        RetakeSql.MERGE,
                        both,
                        ready,
                        tokens,
                        "mine",
                        "key-1401",
                        firstId + 1_401,
                        firstId + 1_401,
                        1L),
                pin("take-over", RetakeSql.TAKE_OVER, KEY, firstId + 1_400, firstId + 1_401, true));
    }
}
