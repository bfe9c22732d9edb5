package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;

/** Requests under the keys of their clients. Everything goes over the caller's connection, in its transaction. */
public final class IdempotencySql {
    /*
     * Locks: the advisory lock, if nobody has it, until the transaction ends or goes back to a savepoint before this statement.
     * Never waits. Isolation: READ COMMITTED, asked for in the statement itself, so that another one is an answer and no error
     * of the server (P15). Rows: one. Trap: the snapshot of this statement is older than the lock, so the row is looked for in a
     * following one.
     */
    static final String LOCK = """
            /* rowlock:idempotency-lock */
            SELECT current_setting('transaction_isolation') AS isolation,
                   current_setting('transaction_read_only')::boolean AS read_only,
                   CASE WHEN current_setting('transaction_isolation') = 'read committed'
                        THEN pg_try_advisory_xact_lock($1) ELSE false END AS locked
            """;

    /* No lock: whoever would write the row needs the advisory lock first. Index: rowlock_idempotency_key_pk. Rows: at most one. */
    static final String FIND = """
            /* rowlock:idempotency-find */
            SELECT fingerprint, response, redacted_at IS NOT NULL AS redacted
            FROM rowlock_idempotency_key
            WHERE key = $1 AND scope = $2 AND expires_at > clock_timestamp()
            """;

    /*
     * Locks: the row, and its entry in rowlock_idempotency_key_pk. Waits for a pruner that deletes the expired one. Rows: one;
     * none if the key has an answer already, which cannot be while the advisory lock is held.
     */
    static final String STORE = """
            /* rowlock:idempotency-store */
            INSERT INTO rowlock_idempotency_key AS k
              (key, scope, principal, method, path, fingerprint, response, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7::json, clock_timestamp() + $8::bigint * interval '1 microsecond')
            ON CONFLICT (key, scope) DO UPDATE
            SET fingerprint = excluded.fingerprint, response = excluded.response, created_at = excluded.created_at,
                expires_at = excluded.expires_at, redacted_at = NULL
            WHERE k.expires_at <= clock_timestamp()
            """;

    private final Sql lock;
    private final Sql find;
    private final Sql store;

    public IdempotencySql(Names names) {
        this.lock = new Sql(names, LOCK);
        this.find = new Sql(names, FIND);
        this.store = new Sql(names, STORE);
    }

    /** What came of trying to get the lock. */
    public record Lock(String isolation, boolean readOnly, boolean taken) {
        /** Whether the isolation lets see what others have committed since. */
        public boolean readCommitted() {
            return isolation.equals("read committed");
        }
    }

    /** A key with its scope, SHA-256 in hexadecimal digits. */
    public record Place(String key, String scope) {
        private byte[] bytes() {
            return HexFormat.of().parseHex(scope);
        }
    }

    /** Who asked for what, and where. */
    public record Asked(String principal, String method, String path, String fingerprint) {}

    /** What was answered, and to what; redacted: both are gone. */
    public record Stored(String fingerprint, String response, boolean redacted) {}

    /** Takes the lock of a request, unless another transaction has it. */
    public Lock tryLock(Connection connection, long hash) throws SQLException {
        return lock.query(
                        connection,
                        row -> new Lock(
                                row.getString("isolation"), row.getBoolean("read_only"), row.getBoolean("locked")),
                        hash)
                .get(0);
    }

    /** The answer of a request that was done and has not expired. */
    public Optional<Stored> find(Connection connection, Place place) throws SQLException {
        return find
                .query(
                        connection,
                        row -> new Stored(
                                row.getString("fingerprint"), row.getString("response"), row.getBoolean("redacted")),
                        place.key(),
                        place.bytes())
                .stream()
                .findFirst();
    }

    /** Keeps an answer under the lock; false if there is one already. */
    public boolean store(Connection connection, Place place, Asked asked, String response, Duration lifetime)
            throws SQLException {
        return store.update(
                        connection,
                        place.key(),
                        place.bytes(),
                        asked.principal(),
                        asked.method(),
                        asked.path(),
                        asked.fingerprint(),
                        response,
                        Sql.micros(lifetime))
                == 1;
    }
}
