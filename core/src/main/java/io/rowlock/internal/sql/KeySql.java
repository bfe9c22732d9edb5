package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of ordering keys. Whoever changes what the jobs of a key may do locks the key's row first, and then acts in a
 * following statement, whose snapshot sees what the last holder of the lock did. READ COMMITTED only.
 */
public final class KeySql {
    /*
     * Its own transaction, so that the server ends it whatever happens to this process. Locks: the new rows. Waits only
     * for a transaction that has dropped a row of the same key and is about to commit; sorted, so that there is no circle.
     * Rows: as many as keys.
     */
    static final String NOTE = """
            /* rowlock:note-keys */
            INSERT INTO rowlock_key (queue, ordering_key)
            SELECT k.queue, k.ordering_key
            FROM unnest($1::text[], $2::text[]) AS k(queue, ordering_key)
            ORDER BY k.queue, k.ordering_key
            ON CONFLICT DO NOTHING
            """;

    /* Locks: the rows of the keys, skipping what is locked. Index: its primary key, once per key. */
    static final String LOCK = """
            /* rowlock:lock-keys */
            SELECT k.queue, k.ordering_key, l.place, l.blocked_by, l.held, l.run_from, l.run_to
            FROM unnest($1::text[], $2::text[]) AS k(queue, ordering_key)
            CROSS JOIN LATERAL (
              SELECT ctid::text AS place, blocked_by, coalesce(held_until > clock_timestamp(), false) AS held, run_from, run_to
              FROM rowlock_key
              WHERE queue = k.queue AND ordering_key = k.ordering_key
              FOR UPDATE SKIP LOCKED) l
            """;

    /*
     * For one job that completes in a transaction of its handler's: its key, unless jobs of the same run before it are
     * still to be recorded, or a crash could run them again after this one. A hold of the key is none of its business:
     * while the job is leased, it can only be that of another job of its own run.
     */
    static final String LOCK_FOR_ONE = """
            /* rowlock:lock-key-of-one */
            SELECT k.queue, k.ordering_key, k.ctid::text AS place, k.blocked_by, k.run_from, k.run_to
            FROM rowlock_key k
            WHERE k.queue = $1 AND k.ordering_key = $2
              AND NOT coalesce((
                SELECT true
                FROM rowlock_job j
                WHERE j.queue = $1 AND j.ordering_key = $2 AND j.state IN ('ready', 'parked')
                  AND (j.ordering_key, j.id) BETWEEN (k.ordering_key, k.run_from) AND (k.ordering_key, k.run_to)
                  AND (j.id < $3) IS TRUE AND j.locked_by IS NOT NULL
                LIMIT 1), false)
            FOR UPDATE SKIP LOCKED
            """;

    /*
     * The keys of $2 are locked. Locks: none. Index: a range of rowlock_job_order per key. Rows: at most $5 per key; none
     * of a key of whose last run a job is still leased. A sub-select with a limit is never turned into a join; a comparison of rows
     * keeps the primary key away, on which the ids between may be many.
     */
    static final String HEADS = """
            /* rowlock:heads */
            SELECT k.n, h.id, h.kind, h.limit_key, h.losses, h.free
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::integer[])
              WITH ORDINALITY AS k(queue, ordering_key, run_from, run_to, most, n)
            CROSS JOIN LATERAL (
              SELECT j.id, j.kind, j.limit_key, j.losses, j.locked_by IS NULL AND j.run_at <= statement_timestamp() AS free
              FROM rowlock_job j
              WHERE j.queue = k.queue AND j.ordering_key = k.ordering_key AND j.state IN ('ready', 'parked')
              ORDER BY j.id
              LIMIT k.most) h
            WHERE NOT coalesce((
              SELECT true
              FROM rowlock_job r
              WHERE r.queue = k.queue AND r.ordering_key = k.ordering_key AND r.state IN ('ready', 'parked')
                AND (r.ordering_key, r.id) BETWEEN (k.ordering_key, k.run_from) AND (k.ordering_key, k.run_to)
                AND r.locked_by IS NOT NULL
              LIMIT 1), false)
            ORDER BY k.n, h.id
            """;

    /* The keys at $1 are locked by this transaction and unchanged in it. Rows: at most one per key. */
    static final String BLOCK = """
            /* rowlock:block-keys */
            UPDATE rowlock_key
            SET blocked_by = ($2::bigint[])[array_position($1::text[]::tid[], ctid)]
            WHERE ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid))
              AND coalesce((SELECT q.dead_head FROM rowlock_queue q WHERE q.queue = rowlock_key.queue LIMIT 1), 'block') = 'block'
            RETURNING blocked_by
            """;

    static final String UNBLOCK = """
            /* rowlock:unblock-key */
            UPDATE rowlock_key
            SET blocked_by = NULL
            WHERE queue = $1 AND ordering_key = $2 AND blocked_by = $3
            """;

    /*
     * The key is locked by this transaction. A key of which a job is leased has a row. Index: its primary key. An earlier
     * hold that is not over is by a job of the same run, as no other run has begun since.
     */
    static final String HOLD = """
            /* rowlock:hold-key */
            UPDATE rowlock_key
            SET held_until = greatest(held_until, clock_timestamp() + $5::bigint * interval '1 microsecond'),
                held_job = $3, held_token = $4
            WHERE queue = $1 AND ordering_key = $2
            """;

    /* Which keys are held for these jobs and tokens. Locks: none. Index: rowlock_key_pk, once per key. */
    static final String HELD = """
            /* rowlock:held-keys */
            SELECT h.n
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
              WITH ORDINALITY AS h(queue, ordering_key, job, token, n)
            CROSS JOIN LATERAL (
              SELECT 1
              FROM rowlock_key
              WHERE queue = h.queue AND ordering_key = h.ordering_key AND held_job = h.job AND held_token = h.token
              LIMIT 1) k
            """;

    /* The keys at $1 are locked by this transaction and unchanged in it; no longer held if it is for that job and token. */
    static final String LIFT = """
            /* rowlock:lift-holds */
            UPDATE rowlock_key
            SET held_until = NULL, held_job = NULL, held_token = NULL
            WHERE ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid))
              AND held_job = ($2::bigint[])[array_position($1::text[]::tid[], ctid)]
              AND held_token = ($3::bigint[])[array_position($1::text[]::tid[], ctid)]
            """;

    /*
     * The keys are locked, and what this transaction changed was changed by statements before this one. Where a key has
     * no job leased, none that blocks it, and is not held, its parked head becomes ready; a key with nothing left is
     * dropped. A head that waits for its limit key is left to whoever makes room there. Locks: the heads, skipping what is
     * locked (the sweep comes back to it). Index: rowlock_key_pk, and rowlock_job_order, once per key; then the primary
     * keys: as an indexable condition, the state would have rowlock_job_aside walked. Rows: at most one promoted per key.
     * $3: whether to drop keys, which must then be the last statement before the commit (see NOTE).
     */
    static final String SETTLE = """
            /* rowlock:settle-keys */
            WITH key AS MATERIALIZED (
              SELECT l.place, h.id, l.held,
                     h.state = 'parked' AND NOT h.limited AND l.blocked_by IS NULL AND NOT l.held AND NOT coalesce((
                       SELECT true
                       FROM rowlock_job r
                       WHERE r.queue = k.queue AND r.ordering_key = k.ordering_key AND r.state IN ('ready', 'parked')
                         AND (r.ordering_key, r.id) BETWEEN (k.ordering_key, l.run_from) AND (k.ordering_key, l.run_to)
                         AND r.locked_by IS NOT NULL
                       LIMIT 1), false) AS waits
              FROM unnest($1::text[], $2::text[]) AS k(queue, ordering_key)
              CROSS JOIN LATERAL (
                SELECT ctid AS place, blocked_by, coalesce(held_until > clock_timestamp(), false) AS held, run_from, run_to
                FROM rowlock_key
                WHERE queue = k.queue AND ordering_key = k.ordering_key
                LIMIT 1) l
              LEFT JOIN LATERAL (
                SELECT j.id, j.state, j.limited
                FROM rowlock_job j
                WHERE j.queue = k.queue AND j.ordering_key = k.ordering_key AND j.state IN ('ready', 'parked')
                ORDER BY j.id
                LIMIT 1) h ON true),
            head AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM key WHERE waits)) AND (state = 'parked') IS TRUE AND locked_by IS NULL
              FOR NO KEY UPDATE SKIP LOCKED),
            dropped AS (
              DELETE FROM rowlock_key
              WHERE $3 AND ctid = ANY(ARRAY(SELECT place FROM key WHERE id IS NULL AND NOT held)) AND blocked_by IS NULL)
            UPDATE rowlock_job
            SET state = 'ready', run_at = greatest(run_at, clock_timestamp())
            WHERE id = ANY(ARRAY(SELECT id FROM head))
            RETURNING id
            """;

    /*
     * Keys that nobody comes back to by himself: with a parked head and nothing that blocks, holds or runs; with nothing
     * left; blocked by a job that is not dead any more. Locks: none. Index: a range of rowlock_key_pk from a cursor, then one
     * look into rowlock_job_order per key. Rows: at most $3 looked at; the last one looked at always comes back.
     */
    static final String STRANDED = """
            /* rowlock:stranded-keys */
            SELECT k.queue, k.ordering_key,
                   CASE WHEN k.blocked_by IS NOT NULL
                        THEN NOT coalesce((SELECT j.state = 'dead' FROM rowlock_job j WHERE j.id = k.blocked_by LIMIT 1), false)
                        ELSE (k.held_until > clock_timestamp()) IS NOT TRUE AND coalesce((
                          SELECT j.state = 'parked' AND NOT j.limited
                          FROM rowlock_job j
                          WHERE j.queue = k.queue AND j.ordering_key = k.ordering_key AND j.state IN ('ready', 'parked')
                          ORDER BY j.id
                          LIMIT 1), true)
                        END AS stranded
            FROM (
              SELECT queue, ordering_key, blocked_by, held_until
              FROM rowlock_key
              WHERE (queue, ordering_key) > ($1, $2)
              ORDER BY queue, ordering_key
              LIMIT $3) k
            ORDER BY k.queue, k.ordering_key
            """;

    /*
     * Clears blocks by jobs that are dead no more; the keys at $1 are locked by this transaction and unchanged in it. The planner's trap:
     * a plain blocked_by IS NOT NULL leads over rowlock_key_blocked, to all keys that are blocked.
     */
    static final String UNBLOCK_REVIVED = """
            /* rowlock:unblock-keys */
            UPDATE rowlock_key
            SET blocked_by = NULL
            WHERE ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid)) AND (blocked_by IS NOT NULL) IS TRUE
              AND NOT coalesce((SELECT j.state = 'dead' FROM rowlock_job j WHERE j.id = rowlock_key.blocked_by LIMIT 1), false)
            """;

    private final Sql note;
    private final Sql lock;
    private final Sql lockForOne;
    private final Sql heads;
    private final Sql block;
    private final Sql unblock;
    private final Sql hold;
    private final Sql held;
    private final Sql lift;
    private final Sql settle;
    private final Sql stranded;
    private final Sql unblockRevived;

    public KeySql(Names names) {
        this.note = new Sql(names, NOTE);
        this.lock = new Sql(names, LOCK);
        this.lockForOne = new Sql(names, LOCK_FOR_ONE);
        this.heads = new Sql(names, HEADS);
        this.block = new Sql(names, BLOCK);
        this.unblock = new Sql(names, UNBLOCK);
        this.hold = new Sql(names, HOLD);
        this.held = new Sql(names, HELD);
        this.lift = new Sql(names, LIFT);
        this.settle = new Sql(names, SETTLE);
        this.stranded = new Sql(names, STRANDED);
        this.unblockRevived = new Sql(names, UNBLOCK_REVIVED);
    }

    /** The row of a key, locked by this transaction: where it stands, what blocks or holds it, what its last run was. */
    public record LockedKey(
            OrderingKey key,
            String place,
            @Nullable Long blockedBy,
            boolean held,
            @Nullable Long runFrom,
            @Nullable Long runTo) {
        /** Whether a run of it may begin, unless a job of the last one is still leased. */
        public boolean isOpen() {
            return blockedBy == null && !held;
        }
    }

    /** A key that is held for a job, which was claimed with this token. */
    public record Hold(OrderingKey key, long job, long token) {}

    /** One of the first jobs of the key with this number; free if it is due and nobody's. */
    public record Head(
            int key, long id, String kind, @Nullable String limitKey, int losses, boolean free) {}

    /** A dead job that blocks its key. */
    public record Blocker(LockedKey key, long id) {}

    /** A key that a sweep looked at. */
    public record Seen(OrderingKey key, boolean stranded) {}

    /** Makes rows for keys that have none. */
    public void note(Connection connection, Collection<OrderingKey> keys) throws SQLException {
        note.update(
                connection,
                Sql.texts(Sql.column(keys, OrderingKey::queue)),
                Sql.texts(Sql.column(keys, OrderingKey::text)));
    }

    /** Locks the rows of the keys, in the order given; those that are locked by others, or not there, are left out. */
    public List<LockedKey> lock(Connection connection, Collection<OrderingKey> keys) throws SQLException {
        return lock.query(
                connection,
                row -> new LockedKey(
                        new OrderingKey(row.getString("queue"), row.getString("ordering_key")),
                        row.getString("place"),
                        row.getObject("blocked_by", Long.class),
                        row.getBoolean("held"),
                        row.getObject("run_from", Long.class),
                        row.getObject("run_to", Long.class)),
                Sql.texts(Sql.column(keys, OrderingKey::queue)),
                Sql.texts(Sql.column(keys, OrderingKey::text)));
    }

    /** Locks the key of a job that is about to end, unless earlier ones of its run are not recorded yet. */
    public boolean lockFor(Connection connection, OrderingKey key, long job) throws SQLException {
        return !lockForOne
                .query(connection, row -> true, key.queue(), key.text(), job)
                .isEmpty();
    }

    /** The first jobs of each key, at most so many. */
    public List<Head> heads(Connection connection, List<LockedKey> keys, List<Integer> most) throws SQLException {
        return heads.query(
                connection,
                row -> new Head(
                        row.getInt("n") - 1,
                        row.getLong("id"),
                        row.getString("kind"),
                        row.getString("limit_key"),
                        row.getInt("losses"),
                        row.getBoolean("free")),
                Sql.texts(Sql.column(keys, each -> each.key().queue())),
                Sql.texts(Sql.column(keys, each -> each.key().text())),
                Sql.bigints(Sql.column(keys, LockedKey::runFrom)),
                Sql.bigints(Sql.column(keys, LockedKey::runTo)),
                Sql.integers(most));
    }

    /** Notes dead jobs as what blocks their keys, where the queue's policy says so; gives the jobs that block. */
    public List<Long> block(Connection connection, List<Blocker> blockers) throws SQLException {
        return block.query(
                connection,
                row -> row.getLong("blocked_by"),
                Sql.texts(Sql.column(blockers, each -> each.key().place())),
                Sql.bigints(Sql.column(blockers, Blocker::id)));
    }

    /** Lets a key go on whose blocking job is revived, skipped or gone; true if that job did block it. */
    public boolean unblock(Connection connection, OrderingKey key, long job) throws SQLException {
        return unblock.update(connection, key.queue(), key.text(), job) == 1;
    }

    /** The same for all keys that are blocked by jobs that are dead no more. */
    public void unblockRevived(Connection connection, List<LockedKey> keys) throws SQLException {
        unblockRevived.update(connection, Sql.texts(Sql.column(keys, LockedKey::place)));
    }

    /** Lets no run of the key begin for so long, or for as long as it is held already; it is lifted by the job's worker. */
    public void hold(Connection connection, Hold by, Duration time) throws SQLException {
        hold.update(connection, by.key().queue(), by.key().text(), by.job(), by.token(), Sql.micros(time));
    }

    /** Those of the holds that are there, whether over or not. */
    public List<Hold> held(Connection connection, List<Hold> holds) throws SQLException {
        return held.query(
                connection,
                row -> holds.get(row.getInt("n") - 1),
                Sql.texts(Sql.column(holds, hold -> hold.key().queue())),
                Sql.texts(Sql.column(holds, hold -> hold.key().text())),
                Sql.bigints(Sql.column(holds, Hold::job)),
                Sql.bigints(Sql.column(holds, Hold::token)));
    }

    /** Ends the hold of each key, where it is still this one. */
    public void lift(Connection connection, List<LockedKey> keys, List<Hold> holds) throws SQLException {
        lift.update(
                connection,
                Sql.texts(Sql.column(keys, LockedKey::place)),
                Sql.bigints(Sql.column(holds, Hold::job)),
                Sql.bigints(Sql.column(holds, Hold::token)));
    }

    /** Promotes the heads of the keys and drops keys with nothing left; the commit must follow. */
    public void settle(Connection connection, Collection<OrderingKey> keys) throws SQLException {
        settle(connection, keys, true);
    }

    /** Promotes the head of a key inside somebody's transaction; a sweep drops the key if nothing is left. */
    public void settleWithin(Connection connection, OrderingKey key) throws SQLException {
        settle(connection, List.of(key), false);
    }

    private void settle(Connection connection, Collection<OrderingKey> keys, boolean drop) throws SQLException {
        settle.query(
                connection,
                row -> row.getLong("id"),
                Sql.texts(Sql.column(keys, OrderingKey::queue)),
                Sql.texts(Sql.column(keys, OrderingKey::text)),
                drop);
    }

    /** Looks at the next keys after the given one, at most so many. */
    public List<Seen> stranded(Connection connection, OrderingKey after, int most) throws SQLException {
        return stranded.query(
                connection,
                row -> new Seen(
                        new OrderingKey(row.getString("queue"), row.getString("ordering_key")),
                        row.getBoolean("stranded")),
                after.queue(),
                after.text(),
                most);
    }
}
