package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The statements of limits over all workers whose plans are pinned, and rows for them. */
final class LimitedStatements {
    private static final List<String> QUEUES = Collections.nCopies(200, "limited");
    private static final List<String> KEYS = IntStream.range(0, 200)
            .mapToObj(n -> String.format("tenant-%06d", n))
            .toList();

    private static final List<String> ROOM = List.of("rowlock_limit_pk", "rowlock_slot_pk", "rowlock_queue_pk");
    private static final long MINUTE = Sql.micros(Duration.ofMinutes(1));
    private static final int MOST = 25_000;

    private LimitedStatements() {}

    /**
     * So many limit keys (25,000 at most) with two workers each, and at least the 200 that are asked for; five parked jobs of the kind
     * limited for each of those, so many of another kind of one, and so many of one tenant more.
     */
    static void load(TestSchema schema, int many) throws SQLException {
        int rows = Math.min(many, MOST);
        int keys = Math.max(200, rows);
        schema.execute("INSERT INTO rowlock_queue (queue, running, rate, rate_per, key_running, key_rate, key_rate_per)"
                + " VALUES ('limited', 100, 1000, '1 minute', 5, 100, '1 minute')");
        schema.execute(
                "INSERT INTO rowlock_limit (queue, limit_key, parked)"
                        + " SELECT 'limited', 'tenant-' || lpad(n::text, 6, '0'), n < 200 FROM generate_series(0, ?) n",
                keys);
        schema.execute(
                "INSERT INTO rowlock_slot (queue, limit_key, owner, held, held_until)"
                        + " SELECT 'limited', 'tenant-' || lpad(n::text, 6, '0'), who, 1, clock_timestamp() + interval '1 hour'"
                        + " FROM generate_series(0, ?) n, unnest(ARRAY['me', 'other']) who",
                keys);
        String parked = "INSERT INTO rowlock_job (queue, kind, payload, state, limited, limit_key) SELECT 'limited',";
        schema.execute(parked + " 'limited', '{}', 'parked', true, 'tenant-' || lpad((n % 200)::text, 6, '0')"
                + " FROM generate_series(0, 999) n");
        schema.execute(parked + " 'other', '{}', 'parked', true, 'tenant-000001' FROM generate_series(1, ?) n", rows);
        schema.execute(parked + " 'limited', '{}', 'parked', true, 'hot' FROM generate_series(1, ?) n", rows);
    }

    static List<Pinned> all() {
        return Stream.of(taking(), promoting(), queues()).flatMap(List::stream).toList();
    }

    private static List<Pinned> taking() {
        Object queues = Sql.texts(QUEUES);
        Object keys = Sql.texts(KEYS);
        Object places = Sql.texts(
                IntStream.rangeClosed(1, 50).mapToObj(n -> "(0," + n + ")").toList());
        List<String> limit = List.of("rowlock_limit_pk");
        List<String> slot = List.of("rowlock_slot_pk");
        return List.of(
                pin("note-limits", LimitSql.NOTE, limit, queues, keys),
                pin("lock-limits", LimitSql.LOCK, limit, queues, keys),
                pin("room-of-limits", LimitSql.LOOK, ROOM, queues, keys, "me"),
                pin(
                        "take-of-limits",
                        LimitSql.TAKE,
                        slot,
                        queues,
                        keys,
                        Sql.integers(Collections.nCopies(200, 1)),
                        Sql.booleans(Collections.nCopies(200, false)),
                        "me",
                        MINUTE,
                        places,
                        Sql.instants(Collections.nCopies(50, null)),
                        Sql.integers(Collections.nCopies(50, 1)),
                        Sql.booleans(Collections.nCopies(50, true))),
                pin(
                        "extend-slots",
                        LimitSql.EXTEND,
                        List.of("rowlock_slot_owner", "rowlock_slot_id"),
                        "nobody",
                        MINUTE,
                        MINUTE),
                pin("leave-limits", LimitSql.LEAVE, List.of("rowlock_slot_owner"), "nobody"),
                pin("others-at-limits", LimitSql.OTHERS, slot, queues, keys, "me"));
    }

    private static List<Pinned> promoting() {
        Object ones = Sql.integers(Collections.nCopies(200, 1));
        List<String> indexes = new ArrayList<>(ROOM);
        indexes.addAll(List.of("rowlock_job_limited", "rowlock_job_pk"));
        return List.of(
                pin(
                        "promote-limited",
                        PromoteSql.PROMOTE,
                        indexes,
                        Sql.texts(QUEUES),
                        Sql.texts(KEYS),
                        "me",
                        ones,
                        MINUTE,
                        Sql.texts(Collections.nCopies(200, "(0,1)")),
                        Sql.texts(List.of("limited", "mine", "keyed")),
                        ones,
                        ones,
                        ones,
                        ones,
                        ones,
                        ones),
                pin(
                        "forget-slots",
                        PromoteSql.FORGET,
                        List.of("rowlock_slot_pk", "rowlock_slot_id"),
                        Sql.texts(QUEUES),
                        Sql.texts(KEYS)),
                pin("visit-limits", PromoteSql.VISIT, ROOM, "limited", "tenant-000100", 500),
                pin(
                        "drop-limits",
                        PromoteSql.DROP,
                        List.of("rowlock_slot_pk", "rowlock_slot_id", "rowlock_queue_pk"),
                        Sql.texts(List.of("(0,1)", "(0,2)"))));
    }

    private static List<Pinned> queues() {
        Object lanes = Sql.texts(List.of("default", "default", "default"));
        Object kinds = Sql.texts(List.of("mine", "mine", "mine"));
        Object never = Sql.instants(Arrays.asList(null, null, null));
        List<String> queue = List.of("rowlock_queue_pk");
        return List.of(
                pin(
                        "due-of-queues",
                        DueSql.DUE,
                        List.of("rowlock_job_due", "rowlock_job_suspect", "rowlock_job_keyed", "rowlock_queue_pk"),
                        lanes,
                        kinds,
                        Sql.integers(List.of(0, 1, 2)),
                        never,
                        never,
                        300),
                pin(
                        "any-due",
                        DueSql.ANY_DUE,
                        List.of("rowlock_job_due", "rowlock_job_suspect", "rowlock_job_keyed"),
                        lanes,
                        kinds,
                        Sql.integers(List.of(0, 1, 2))),
                pin("limit-queue", QueueSql.LIMIT, queue, "default", 1, 2, 60_000L, 3, 4, 60_000L),
                pin("limits-of-queues", QueueSql.LIMITS, queue, lanes));
    }
}
