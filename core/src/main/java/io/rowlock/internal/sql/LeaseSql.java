package io.rowlock.internal.sql;

import io.rowlock.lease.Holding.End;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Named leases outside jobs. A token is part of a key, (name, token): who changes it takes the lock FOR UPDATE, and waits for
 * transactions that hold a fence, FOR KEY SHARE; who renews or releases changes none and waits for no fence. READ COMMITTED,
 * each statement in a short transaction of its own but for FENCE, which runs in the caller's. By the database's clock alone.
 */
public final class LeaseSql {
    /* A free row, so that there is one to lock. Waits for another who makes the same. Rows: one or none. */
    static final String MAKE = """
            /* rowlock:make-lease */
            INSERT INTO rowlock_lease (name, token, expires_at)
            VALUES ($1, 0, clock_timestamp())
            ON CONFLICT (name) DO NOTHING
            """;

    /*
     * Locks: the row, FOR UPDATE, if it is free or over: waits for fences and for another taker, at most lock_timeout, and looks
     * at the row again then; its rows of history. Index: the primary keys. Rows: one or none. The token is drawn under the lock,
     * so that it is greater than any before; greatest() is for a sequence that somebody has set back.
     */
    static final String TAKE = """
            /* rowlock:take-lease */
            WITH free AS MATERIALIZED (
              SELECT name, token, holder, expires_at
              FROM rowlock_lease
              WHERE name = $1 AND (holder IS NULL OR expires_at <= clock_timestamp())
              FOR UPDATE),
            taken AS (
              UPDATE rowlock_lease
              SET token = greatest(token + 1, nextval('rowlock_lease_token_seq')), holder = $2, taken_at = clock_timestamp(),
                  expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
              WHERE name = ANY(ARRAY(SELECT name FROM free))
              RETURNING name, token, taken_at),
            ended AS (
              UPDATE rowlock_lease_history
              SET ended_at = (SELECT expires_at FROM free), ended = 'expired'
              WHERE name = ANY(ARRAY(SELECT name FROM free WHERE holder IS NOT NULL))
                AND token = (SELECT token FROM free) AND ended_at IS NULL),
            noted AS (
              INSERT INTO rowlock_lease_history (name, token, holder, taken_at)
              SELECT name, token, $2, taken_at FROM taken)
            SELECT token FROM taken
            """;

    /* The same for who looks again anyway: waits for no fence, so that one that is open holds up nothing else. */
    static final String TAKE_UNFENCED = TAKE.replace("/* rowlock:take-lease */", "/* rowlock:take-unfenced-lease */")
            .replace("FOR UPDATE)", "FOR UPDATE SKIP LOCKED)");

    /*
     * Locks: the rows, FOR NO KEY UPDATE, which waits for no fence; skips a row that a taker or a person has locked. Index: the
     * primary key. Rows: at most 500. What has run out is never brought back to life. A HOT update.
     */
    static final String RENEW = """
            /* rowlock:renew-leases */
            WITH held AS MATERIALIZED (
              SELECT name
              FROM rowlock_lease
              WHERE name = ANY($1::text[]) AND holder = $3 AND token = ($2::bigint[])[array_position($1::text[], name)]
                AND expires_at > clock_timestamp()
              ORDER BY name
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_lease
            SET expires_at = clock_timestamp() + ($4::bigint[])[array_position($1::text[], name)] * interval '1 microsecond'
            WHERE name = ANY(ARRAY(SELECT name FROM held))
            RETURNING name, token
            """;

    /* Which of those that could not be renewed are merely locked. Locks: none. Index: the primary key. Rows: at most 500. */
    static final String STILL_HELD = """
            /* rowlock:leases-still-held */
            SELECT name, token
            FROM rowlock_lease
            WHERE name = ANY($1::text[]) AND holder = $3 AND token = ($2::bigint[])[array_position($1::text[], name)]
              AND expires_at > clock_timestamp()
            """;

    /* Locks: the row, FOR NO KEY UPDATE; waits for no fence, but whoever takes it does. Index: the primary keys. Rows: one or none. */
    static final String RELEASE = """
            /* rowlock:release-lease */
            WITH freed AS (
              UPDATE rowlock_lease
              SET holder = NULL, expires_at = clock_timestamp()
              WHERE name = $1 AND token = $2 AND holder = $3
              RETURNING name),
            noted AS (
              UPDATE rowlock_lease_history
              SET ended_at = clock_timestamp(), ended = $4
              WHERE name = ANY(ARRAY(SELECT name FROM freed)) AND token = $2 AND ended_at IS NULL)
            SELECT name FROM freed
            """;

    /*
     * In the caller's transaction. Locks: the row, FOR KEY SHARE, until its end: holds off takers, never the renewal; waits for a
     * taker that has it, and then finds another token. Index: rowlock_lease_pk or rowlock_lease_fence. Rows: one. Isolation: said
     * rather than failed, so that the transaction is not poisoned; with an older snapshot expires_at would be that of long ago.
     */
    static final String FENCE = """
            /* rowlock:fence */
            WITH held AS MATERIALIZED (
              SELECT token
              FROM rowlock_lease
              WHERE name = $1 AND token = $2 AND holder IS NOT NULL AND expires_at > clock_timestamp()
                AND current_setting('transaction_isolation') = 'read committed'
              FOR KEY SHARE)
            SELECT current_setting('transaction_isolation') AS isolation, (SELECT count(*) FROM held) = 1 AS held
            """;

    /*
     * Locks: the row, FOR NO KEY UPDATE: waits for no fence, or fences that overlap would keep a person from it for ever. Index: the
     * primary keys. Rows: one or none. No fence passes from then on, as it asks for a holder; what was fenced before may still
     * commit, and the next taker waits for it, and draws the next token.
     */
    static final String REVOKE = """
            /* rowlock:revoke-lease */
            WITH held AS MATERIALIZED (
              SELECT name, token
              FROM rowlock_lease
              WHERE name = $1 AND holder IS NOT NULL AND expires_at > clock_timestamp()
              FOR NO KEY UPDATE),
            freed AS (
              UPDATE rowlock_lease
              SET holder = NULL, expires_at = clock_timestamp()
              WHERE name = ANY(ARRAY(SELECT name FROM held))
              RETURNING name),
            ended AS (
              UPDATE rowlock_lease_history
              SET ended_at = clock_timestamp(), ended = 'revoked'
              WHERE name = ANY(ARRAY(SELECT name FROM held)) AND token = (SELECT token FROM held) AND ended_at IS NULL)
            INSERT INTO rowlock_operation (who, why, what, lease)
            SELECT $2, $3, 'revoke', name FROM freed
            """;

    private static final String ROW = """
            SELECT name, token, CASE WHEN expires_at > clock_timestamp() THEN holder END AS holder, taken_at, expires_at
            FROM rowlock_lease
            """;

    /* Locks: none. Index: the primary key. Rows: one or none. */
    static final String FIND = "/* rowlock:find-lease */ " + ROW + "WHERE name = $1";

    /* Locks: none. Index: the primary key, in its order. Rows: at most $2. */
    static final String PAGE = "/* rowlock:page-of-leases */ " + ROW + """
            WHERE name > $1
            ORDER BY name
            LIMIT $2
            """;

    /* Newest first. Locks: none. Index: the primary key of the history, backwards. Rows: at most $2. */
    static final String HISTORY = """
            /* rowlock:history-of-lease */
            SELECT token, holder, taken_at, ended_at, ended
            FROM rowlock_lease_history
            WHERE name = $1
            ORDER BY token DESC
            LIMIT $2
            """;

    private final Sql make;
    private final Sql take;
    private final Sql takeUnfenced;
    private final Sql renew;
    private final Sql stillHeld;
    private final Sql release;
    private final Sql fence;
    private final Sql revoke;
    private final Sql find;
    private final Sql page;
    private final Sql history;

    public LeaseSql(Names names) {
        this.make = new Sql(names, MAKE);
        this.take = new Sql(names, TAKE);
        this.takeUnfenced = new Sql(names, TAKE_UNFENCED);
        this.renew = new Sql(names, RENEW);
        this.stillHeld = new Sql(names, STILL_HELD);
        this.release = new Sql(names, RELEASE);
        this.fence = new Sql(names, FENCE);
        this.revoke = new Sql(names, REVOKE);
        this.find = new Sql(names, FIND);
        this.page = new Sql(names, PAGE);
        this.history = new Sql(names, HISTORY);
    }

    /** A lease under a token. */
    public record Held(String name, long token) {}

    /** A lease's row; holder null: free. */
    public record LeaseRow(
            String name, long token, @Nullable String holder, Instant takenAt, Instant expiresAt) {}

    /** Who held it when; ended null: not yet known to have ended. */
    public record Holding(
            long token,
            String holder,
            Instant takenAt,
            @Nullable Instant endedAt,
            @Nullable String ended) {}

    /** What a fence found. */
    public record Fenced(String isolation, boolean held) {}

    /** True if a free row was made that was not there. */
    public boolean make(Connection connection, String name) throws SQLException {
        return make.update(connection, name) == 1;
    }

    /** The new token, or empty if there is no row, or somebody holds it. */
    public Optional<Long> take(Connection connection, String name, String holder, Duration timeToLive)
            throws SQLException {
        return token(take, connection, name, holder, timeToLive);
    }

    /** The same, and empty if a transaction under a fence of it is open. */
    public Optional<Long> takeUnfenced(Connection connection, String name, String holder, Duration timeToLive)
            throws SQLException {
        return token(takeUnfenced, connection, name, holder, timeToLive);
    }

    private static Optional<Long> token(Sql sql, Connection connection, String name, String holder, Duration timeToLive)
            throws SQLException {
        return sql.query(connection, row -> row.getLong("token"), name, holder, Sql.micros(timeToLive)).stream()
                .findFirst();
    }

    /** Gives those that were renewed; no name twice. */
    public Set<Held> renew(Connection connection, String holder, List<Held> held, List<Duration> timesToLive)
            throws SQLException {
        return new HashSet<>(renew.query(
                connection,
                LeaseSql::held,
                names(held),
                tokens(held),
                holder,
                Sql.bigints(Sql.column(timesToLive, Sql::micros))));
    }

    /** Gives those that are held as said; no name twice. */
    public Set<Held> stillHeld(Connection connection, String holder, List<Held> held) throws SQLException {
        return new HashSet<>(stillHeld.query(connection, LeaseSql::held, names(held), tokens(held), holder));
    }

    private static Held held(ResultSet row) throws SQLException {
        return new Held(row.getString("name"), row.getLong("token"));
    }

    private static Sql.ArrayOf names(Collection<Held> held) {
        return Sql.texts(Sql.column(held, Held::name));
    }

    private static Sql.ArrayOf tokens(Collection<Held> held) {
        return Sql.bigints(Sql.column(held, Held::token));
    }

    /** False if it was not held so any more. */
    public boolean release(Connection connection, Held held, String holder, End end) throws SQLException {
        String ended = end.name().toLowerCase(Locale.ROOT);
        return !release.query(connection, row -> true, held.name(), held.token(), holder, ended)
                .isEmpty();
    }

    /** In the caller's transaction. */
    public Fenced fence(Connection connection, Held held) throws SQLException {
        return fence.query(
                        connection,
                        row -> new Fenced(row.getString("isolation"), row.getBoolean("held")),
                        held.name(),
                        held.token())
                .get(0);
    }

    /** False if nobody held it. */
    public boolean revoke(Connection connection, String name, String who, String why) throws SQLException {
        return revoke.update(connection, name, who, why) == 1;
    }

    public Optional<LeaseRow> find(Connection connection, String name) throws SQLException {
        return find.query(connection, LeaseSql::row, name).stream().findFirst();
    }

    public List<LeaseRow> page(Connection connection, String after, int most) throws SQLException {
        return page.query(connection, LeaseSql::row, after, most);
    }

    static LeaseRow row(ResultSet row) throws SQLException {
        return new LeaseRow(
                row.getString("name"),
                row.getLong("token"),
                row.getString("holder"),
                Sql.requiredInstant(row, "taken_at"),
                Sql.requiredInstant(row, "expires_at"));
    }

    public List<Holding> history(Connection connection, String name, int most) throws SQLException {
        return history.query(
                connection,
                row -> new Holding(
                        row.getLong("token"),
                        row.getString("holder"),
                        Sql.requiredInstant(row, "taken_at"),
                        Sql.instant(row, "ended_at"),
                        row.getString("ended")),
                name,
                most);
    }
}
