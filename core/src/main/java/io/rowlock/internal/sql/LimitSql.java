package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits over all workers. Whoever takes, frees or looks for what is limited locks the limit's row first, and then acts
 * in a following statement, whose snapshot sees what the last holder of the lock did. READ COMMITTED only.
 */
public final class LimitSql {
    /*
     * Its own transaction. Locks: the new rows; waits only for a transaction that makes or drops a row of the same limit,
     * which ends at once. Rows: as many as limits.
     */
    static final String NOTE = """
            /* rowlock:note-limits */
            INSERT INTO rowlock_limit (queue, limit_key)
            SELECT k.queue, k.limit_key
            FROM unnest($1::text[], $2::text[]) AS k(queue, limit_key)
            ORDER BY k.queue, k.limit_key
            ON CONFLICT DO NOTHING
            """;

    /* Locks: the rows of the limits, skipping what is locked. Index: its primary key, once per limit. */
    static final String LOCK = """
            /* rowlock:lock-limits */
            SELECT k.n, l.place, l.parked
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(queue, limit_key, n)
            CROSS JOIN LATERAL (
              SELECT ctid::text AS place, parked
              FROM rowlock_limit
              WHERE queue = k.queue AND limit_key = k.limit_key
              FOR UPDATE SKIP LOCKED) l
            """;

    /*
     * What a limit still has: slots that no other worker with time left holds, and what is left of its window. NULL: no such
     * limit. Rows: one per limit, and one per worker that held a slot of it lately. Sub-selects with a limit are never
     * turned into joins.
     */
    static final String ROOM = """
            CROSS JOIN LATERAL (
              SELECT
                (SELECT CASE WHEN k.limit_key = '' THEN q.running ELSE q.key_running END
                 FROM rowlock_queue q WHERE q.queue = k.queue LIMIT 1) AS running,
                (SELECT CASE WHEN k.limit_key = '' THEN q.rate ELSE q.key_rate END
                 FROM rowlock_queue q WHERE q.queue = k.queue LIMIT 1) AS rate,
                (SELECT CASE WHEN k.limit_key = '' THEN q.rate_per ELSE q.key_rate_per END
                 FROM rowlock_queue q WHERE q.queue = k.queue LIMIT 1) AS per) most
            CROSS JOIN LATERAL (
              SELECT date_bin(most.per, statement_timestamp(), 'epoch') AS begins) bin
            CROSS JOIN LATERAL (
              SELECT most.running - coalesce((
                       SELECT sum(s.held)::integer
                       FROM rowlock_slot s
                       WHERE s.queue = k.queue AND s.limit_key = k.limit_key AND s.owner <> $3
                         AND s.held_until >= statement_timestamp()), 0)
                       AS slots,
                     most.rate - coalesce((
                       SELECT l.window_used
                       FROM rowlock_limit l
                       WHERE l.queue = k.queue AND l.limit_key = k.limit_key AND l.window_at = bin.begins
                       LIMIT 1), 0) AS tokens) room
            """;

    /* The limits are locked. Locks: none. Index: primary keys. Rows: see ROOM. */
    static final String LOOK = """
            /* rowlock:room-of-limits */
            SELECT k.n, room.slots, room.tokens, bin.begins,
                   coalesce((
                     SELECT s.held
                     FROM rowlock_slot s
                     WHERE s.queue = k.queue AND s.limit_key = k.limit_key AND s.owner = $3
                       AND s.held_until >= statement_timestamp()
                     LIMIT 1), 0) AS held,
                   round(extract(epoch FROM bin.begins + most.per - statement_timestamp()) * 1000000)::bigint AS ends_in
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(queue, limit_key, n)
            """ + ROOM;

    /*
     * The limits are locked and unchanged by this transaction. Locks: this worker's own rows of slots, sorted; another of
     * its threads may extend them. $3: how many this worker holds from now on, whatever the row said: so it may run twice.
     * A limit without slots is not in $1. $7: the rows of limits that change: of those that give tokens, or of which jobs
     * are parked. Less than none are given back, which counts only while their window is the last one. Who holds none and
     * does not wait for some has no time left.
     */
    static final String TAKE = """
            /* rowlock:take-of-limits */
            WITH used AS (
              UPDATE rowlock_limit
              SET window_used = greatest(0, CASE
                    WHEN window_at = ($8::timestamptz[])[array_position($7::text[]::tid[], ctid)]
                    THEN window_used + ($9::integer[])[array_position($7::text[]::tid[], ctid)]
                    WHEN ($9::integer[])[array_position($7::text[]::tid[], ctid)] > 0
                    THEN ($9::integer[])[array_position($7::text[]::tid[], ctid)]
                    ELSE window_used END),
                  window_at = CASE WHEN ($9::integer[])[array_position($7::text[]::tid[], ctid)] > 0
                    THEN coalesce(($8::timestamptz[])[array_position($7::text[]::tid[], ctid)], window_at)
                    ELSE window_at END,
                  parked = parked OR ($10::boolean[])[array_position($7::text[]::tid[], ctid)]
              WHERE ctid = ANY(ARRAY(SELECT unnest($7::text[])::tid)))
            INSERT INTO rowlock_slot (queue, limit_key, owner, held, held_until)
            SELECT k.queue, k.limit_key, $5, k.held,
                   clock_timestamp() + CASE WHEN k.held > 0 OR k.waits THEN $6::bigint ELSE 0 END * interval '1 microsecond'
            FROM unnest($1::text[], $2::text[], $3::integer[], $4::boolean[]) AS k(queue, limit_key, held, waits)
            ORDER BY k.queue, k.limit_key
            ON CONFLICT (queue, limit_key, owner) DO UPDATE SET held = excluded.held, held_until = excluded.held_until
            """;

    /*
     * Locks: this worker's own rows, skipping what another of its threads has in hand. Index: rowlock_slot_owner, then
     * rowlock_slot_id. Rows: as many as limits of which this worker holds slots; those extended lately are left.
     */
    static final String EXTEND = """
            /* rowlock:extend-slots */
            UPDATE rowlock_slot
            SET held_until = clock_timestamp() + $2::bigint * interval '1 microsecond'
            WHERE id = ANY(ARRAY(
              SELECT id
              FROM rowlock_slot
              WHERE owner = $1 AND held > 0 AND held_until < clock_timestamp() + $3::bigint * interval '1 microsecond'
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED))
            """;

    /* Locks: this worker's own rows, which nobody else waits for. Index: rowlock_slot_owner. */
    static final String LEAVE = """
            /* rowlock:leave-limits */
            DELETE FROM rowlock_slot WHERE owner = $1
            """;

    /* Locks: none. Index: rowlock_slot_pk, a range per limit. Rows: one per worker that used the limit lately. */
    static final String OTHERS = """
            /* rowlock:others-at-limits */
            SELECT k.n, count(*)::integer AS others, (count(*) FILTER (WHERE s.held = 0))::integer AS waiting,
                   sum(s.held)::integer AS held
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(queue, limit_key, n)
            CROSS JOIN LATERAL (
              SELECT held
              FROM rowlock_slot
              WHERE queue = k.queue AND limit_key = k.limit_key AND owner <> $3 AND held_until >= statement_timestamp()
              LIMIT 10000) s
            GROUP BY k.n
            """;

    private final Sql note;
    private final Sql lock;
    private final Sql look;
    private final Sql take;
    private final Sql extend;
    private final Sql leave;
    private final Sql others;

    public LimitSql(Names names) {
        this.note = new Sql(names, NOTE);
        this.lock = new Sql(names, LOCK);
        this.look = new Sql(names, LOOK);
        this.take = new Sql(names, TAKE);
        this.extend = new Sql(names, EXTEND);
        this.leave = new Sql(names, LEAVE);
        this.others = new Sql(names, OTHERS);
    }

    /** The row of a limit, locked by this transaction. */
    public record LockedLimit(LimitKey key, String place, boolean parked) {}

    /**
     * What a limit still has: slots beside those of other workers, and tokens (null: no such limit), which may be less
     * than none; how many slots this worker holds, unless their time is over; of the window the beginning, and when it ends.
     */
    public record Room(
            @Nullable Integer slots,
            @Nullable Integer tokens,
            int held,
            @Nullable Instant window,
            @Nullable Duration endsIn) {}

    /**
     * What this worker has of a locked limit from now on: so many slots (null: it has none to give), and whether it waits
     * for more; what it takes of a window; and whether jobs are parked.
     */
    public record Share(LockedLimit limit, @Nullable Integer held, boolean waits, Spent spent, boolean parks) {
        boolean changesLimit() {
            return spent.tokens() != 0 || (parks && !limit.parked());
        }
    }

    /** Tokens of a window; less than none: given back to it. */
    public record Spent(int tokens, @Nullable Instant window) {}

    /** Makes rows for limits that have none. */
    public void note(Connection connection, Collection<LimitKey> keys) throws SQLException {
        note.update(connection, queues(keys), texts(keys));
    }

    /** Locks the rows of the limits; those that are locked by others, or not there, are left out. */
    public List<LockedLimit> lock(Connection connection, List<LimitKey> sorted) throws SQLException {
        return lock.query(
                connection,
                row -> new LockedLimit(
                        sorted.get(row.getInt("n") - 1), row.getString("place"), row.getBoolean("parked")),
                queues(sorted),
                texts(sorted));
    }

    /** What the limits have beside what other workers hold, in their order; they are locked. */
    public List<Room> look(Connection connection, List<LimitKey> keys, String owner) throws SQLException {
        record Seen(int n, Room room) {}
        return look
                .query(
                        connection,
                        row -> {
                            Long endsIn = row.getObject("ends_in", Long.class);
                            return new Seen(
                                    row.getInt("n"),
                                    new Room(
                                            row.getObject("slots", Integer.class),
                                            row.getObject("tokens", Integer.class),
                                            row.getInt("held"),
                                            Sql.instant(row, "begins"),
                                            endsIn == null ? null : Sql.duration(endsIn)));
                        },
                        queues(keys),
                        texts(keys),
                        owner)
                .stream()
                .sorted((a, b) -> Integer.compare(a.n(), b.n()))
                .map(Seen::room)
                .toList();
    }

    /** Writes what this worker has of limits from now on, sorted. */
    public void take(Connection connection, String owner, Duration lease, List<Share> shares) throws SQLException {
        List<Share> slots =
                shares.stream().filter(share -> share.held() != null).toList();
        List<Share> changed = shares.stream().filter(Share::changesLimit).toList();
        take.update(
                connection,
                Sql.texts(Sql.column(slots, share -> share.limit().key().queue())),
                Sql.texts(Sql.column(slots, share -> share.limit().key().text())),
                Sql.integers(Sql.column(slots, Share::held)),
                Sql.booleans(slots.stream().map(Share::waits).toList()),
                owner,
                Sql.micros(lease),
                Sql.texts(Sql.column(changed, share -> share.limit().place())),
                Sql.instants(Sql.column(changed, share -> share.spent().window())),
                Sql.integers(Sql.column(changed, share -> share.spent().tokens())),
                Sql.booleans(changed.stream().map(Share::parks).toList()));
    }

    /** Gives up all that a worker holds. */
    public void leave(Connection connection, String owner) throws SQLException {
        leave.update(connection, owner);
    }

    /** Extends what this worker holds and has less than the rest left of. */
    public void extend(Connection connection, String owner, Duration lease, Duration rest) throws SQLException {
        extend.update(connection, owner, Sql.micros(lease), Sql.micros(rest));
    }

    /** How many other workers hold slots of a limit or wait for some; how many of them hold none; how many they hold. */
    public record Others(int all, int waiting, int held) {}

    /** Who else is at these limits; none where there is no other. */
    public Map<LimitKey, Others> others(Connection connection, List<LimitKey> keys, String owner) throws SQLException {
        Map<LimitKey, Others> found = new HashMap<>();
        others.query(
                connection,
                row -> found.put(
                        keys.get(row.getInt("n") - 1),
                        new Others(row.getInt("others"), row.getInt("waiting"), row.getInt("held"))),
                queues(keys),
                texts(keys),
                owner);
        return found;
    }

    static Sql.ArrayOf queues(Collection<LimitKey> keys) {
        return Sql.texts(Sql.column(keys, LimitKey::queue));
    }

    static Sql.ArrayOf texts(Collection<LimitKey> keys) {
        return Sql.texts(Sql.column(keys, LimitKey::text));
    }
}
