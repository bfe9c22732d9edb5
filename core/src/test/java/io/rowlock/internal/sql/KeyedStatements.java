package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The statements of ordering keys whose plans are pinned, and rows for them. */
final class KeyedStatements {
    private static final List<String> KEYS =
            IntStream.range(0, 200).mapToObj(n -> "key-" + n).toList();
    private static final List<String> QUEUES = Collections.nCopies(200, "default");

    private KeyedStatements() {}

    /**
     * Five due jobs of kind keyed for each of 200 keys; so many parked followers of one key more; so many jobs of another
     * kind, each with a key of its own.
     */
    static void load(TestSchema schema, int many) throws SQLException {
        schema.execute("INSERT INTO rowlock_job (queue, kind, payload, ordering_key)"
                + " SELECT 'default', 'keyed', '{}', 'key-' || n % 200 FROM generate_series(0, 999) n");
        schema.execute(
                "INSERT INTO rowlock_job (queue, kind, payload, ordering_key, state)"
                        + " SELECT 'default', 'keyed', '{}', 'hot', 'parked' FROM generate_series(1, ?)",
                many);
        schema.execute(
                "INSERT INTO rowlock_job (queue, kind, payload, ordering_key)"
                        + " SELECT 'default', 'other', '{}', 'other-' || n FROM generate_series(1, ?) n",
                many);
        schema.execute(
                "INSERT INTO rowlock_key (queue, ordering_key, run_from, run_to)"
                        + " SELECT 'default', 'key-' || n, 1000 + n, 900000 + n FROM generate_series(0, 199) n"
                        + " UNION ALL SELECT 'default', 'other-' || n, n, n FROM generate_series(1, ?) n"
                        + " UNION ALL SELECT 'default', 'hot', 1, 100",
                many);
    }

    static List<Pinned> all() {
        return Stream.concat(running().stream(), heldUp().stream()).toList();
    }

    private static List<Pinned> heldUp() {
        List<String> key = List.of("rowlock_key_pk");
        Object queues = Sql.texts(QUEUES);
        Object keys = Sql.texts(KEYS);
        Object numbers = Sql.bigints(LongStream.range(0, 200).boxed().toList());
        Object places = Sql.texts(
                LongStream.rangeClosed(1, 200).mapToObj(n -> "(0," + n + ")").toList());
        return List.of(
                pin("hold-key", KeySql.HOLD, key, "default", "hot", 1L, 1L, Sql.micros(Duration.ofMinutes(1))),
                pin("held-keys", KeySql.HELD, key, queues, keys, numbers, numbers),
                pin("block-keys", KeySql.BLOCK, List.of("rowlock_queue_pk"), places, numbers),
                pin("unlocked", KeyedClaimSql.UNLOCKED, List.of("rowlock_job_pk"), numbers),
                pin("lift-holds", KeySql.LIFT, List.of(), places, numbers, numbers));
    }

    private static List<Pinned> running() {
        Object queues = Sql.texts(QUEUES);
        Object keys = Sql.texts(KEYS);
        Object twenty = Sql.integers(Collections.nCopies(200, 20));
        Object places = Sql.texts(
                IntStream.rangeClosed(1, 200).mapToObj(n -> "(0," + n + ")").toList());
        Object lanes = Sql.texts(List.of("default", "default", "default"));
        Object kinds = Sql.texts(List.of("keyed", "keyed", "keyed"));
        Object priorities = Sql.integers(List.of(0, 1, 2));
        Object never = Sql.instants(Arrays.asList(null, null, null));
        Object fromIds = Sql.bigints(Arrays.asList(null, null, null));
        Object ids =
                Sql.bigints(IntStream.range(0, 200).mapToObj(n -> 1_000L + n).toList());
        Object later =
                Sql.bigints(IntStream.range(0, 200).mapToObj(n -> 900_000L + n).toList());
        Object numbers = Sql.integers(IntStream.range(0, 200).boxed().toList());
        List<String> key = List.of("rowlock_key_pk");
        List<String> order = List.of("rowlock_job_order");
        List<String> keyed = List.of("rowlock_job_keyed");
        return List.of(
                pin(
                        "keyed-candidates",
                        KeyedClaimSql.CANDIDATES,
                        List.of("rowlock_job_keyed", "rowlock_job_keyed_suspect", "rowlock_queue_pk"),
                        lanes,
                        kinds,
                        priorities,
                        never,
                        Sql.integers(List.of(200, 200, 200)),
                        ids,
                        20),
                pin("note-keys", KeySql.NOTE, key, queues, keys),
                pin("lock-keys", KeySql.LOCK, key, queues, keys),
                pin(
                        "lock-key-of-one",
                        KeySql.LOCK_FOR_ONE,
                        List.of("rowlock_key_pk", "rowlock_job_order"),
                        "default",
                        "hot",
                        1_000_000_000L),
                pin("heads", KeySql.HEADS, order, queues, keys, ids, later, twenty),
                pin(
                        "take-runs",
                        KeyedClaimSql.TAKE_RUNS,
                        List.of("rowlock_job_pk"),
                        "me",
                        Sql.micros(Duration.ofMinutes(1)),
                        ids,
                        numbers,
                        ids,
                        places,
                        ids,
                        ids,
                        later),
                pin(
                        "settle-keys",
                        KeySql.SETTLE,
                        List.of("rowlock_key_pk", "rowlock_job_order", "rowlock_job_pk"),
                        queues,
                        keys,
                        true),
                pin(
                        "stranded-keys",
                        KeySql.STRANDED,
                        List.of("rowlock_key_pk", "rowlock_job_order", "rowlock_job_pk"),
                        "",
                        "",
                        200),
                pin("walk-keyed", SweepSql.WALK_KEYED, keyed, lanes, kinds, priorities, never, fromIds, 300));
    }
}
