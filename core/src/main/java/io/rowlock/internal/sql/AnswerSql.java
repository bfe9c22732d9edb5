package io.rowlock.internal.sql;

import io.rowlock.internal.sql.IdempotencySql.Place;
import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What people do with stored answers. READ COMMITTED, in short transactions. */
public final class AnswerSql {
    /* Locks: none. Index: a range of rowlock_idempotency_key_pk. Rows: at most 1,000. */
    static final String FIND = """
            /* rowlock:answers-under-key */
            SELECT key, scope, method, path, CASE WHEN redacted_at IS NULL THEN response END AS response, created_at, expires_at
            FROM rowlock_idempotency_key
            WHERE key = $1 AND principal = $2
            ORDER BY scope
            LIMIT 1000
            """;

    /* Rows: one. */
    static final String RECORD = """
            /* rowlock:record-answer-operation */
            INSERT INTO rowlock_operation (who, why, what, principal, request_key) VALUES ($1, $2, 'read', $3, $4)
            """;

    /*
     * Looks at 1,000 rows behind a place, and gives those of the principal, and with seen the last one it looked at, if there is
     * any. Locks: none. Index: rowlock_idempotency_key_pk, in its order. Rows: at most 1,001.
     */
    static final String OF_PRINCIPAL = """
            /* rowlock:answers-of-principal */
            WITH looked AS MATERIALIZED (
              SELECT key, scope, principal = $3 AND redacted_at IS NULL AS theirs
              FROM rowlock_idempotency_key
              WHERE (key, scope) > ($1, decode($2, 'hex'))
              ORDER BY key, scope
              LIMIT 1000)
            SELECT key, scope, false AS seen FROM looked WHERE theirs
            UNION ALL
            (SELECT key, scope, true AS seen FROM looked ORDER BY key DESC, scope DESC LIMIT 1)
            """;

    /*
     * Locks: the rows, in the order given, skipping what is locked: by a pruner, or a request that replaces an expired one. Index:
     * rowlock_idempotency_key_pk, row by row: a join would walk the table. Rows: those given, at most 500, and one operation.
     */
    static final String REDACT = """
            /* rowlock:redact-answers */
            WITH locked AS MATERIALIZED (
              SELECT k.place
              FROM unnest($1::text[], $2::text[]) AS given(key, scope)
              CROSS JOIN LATERAL (
                SELECT ctid AS place
                FROM rowlock_idempotency_key
                WHERE key = given.key AND scope = decode(given.scope, 'hex') AND principal = $3 AND redacted_at IS NULL
                FOR UPDATE SKIP LOCKED) AS k),
            noted AS (
              INSERT INTO rowlock_operation (who, why, what, principal, request_key)
              SELECT $4, $5, 'redact', $3, $6 WHERE EXISTS (SELECT FROM locked))
            UPDATE rowlock_idempotency_key
            SET response = 'null', fingerprint = 'redacted', redacted_at = clock_timestamp()
            WHERE ctid = ANY(ARRAY(SELECT place FROM locked))
            """;

    private final Sql find;
    private final Sql record;
    private final Sql ofPrincipal;
    private final Sql redact;

    public AnswerSql(Names names) {
        this.find = new Sql(names, FIND);
        this.record = new Sql(names, RECORD);
        this.ofPrincipal = new Sql(names, OF_PRINCIPAL);
        this.redact = new Sql(names, REDACT);
    }

    /** An answer's row; response null: redacted. */
    public record AnswerRow(
            Place place,
            String method,
            String path,
            @Nullable String response,
            Instant createdAt,
            Instant expiresAt) {}

    /** Those of a principal in one stretch of the table, and where it ended; null: at the table's end. */
    public record Stretch(List<Place> theirs, @Nullable Place end) {}

    public List<AnswerRow> find(Connection connection, String principal, String key) throws SQLException {
        return find.query(
                connection,
                row -> new AnswerRow(
                        new Place(row.getString("key"), HexFormat.of().formatHex(row.getBytes("scope"))),
                        row.getString("method"),
                        row.getString("path"),
                        row.getString("response"),
                        Sql.requiredInstant(row, "created_at"),
                        Sql.requiredInstant(row, "expires_at")),
                key,
                principal);
    }

    /** Says who read what was answered, and why. */
    public void recordRead(Connection connection, String principal, String key, By by) throws SQLException {
        record.update(connection, by.who(), by.why(), principal, key);
    }

    /** The next stretch behind a place. */
    public Stretch ofPrincipal(Connection connection, String principal, @Nullable Place after) throws SQLException {
        record Row(Place place, boolean seen) {}
        List<Place> theirs = new ArrayList<>();
        Place end = null;
        for (Row row : ofPrincipal.query(
                connection,
                found -> new Row(
                        new Place(found.getString("key"), HexFormat.of().formatHex(found.getBytes("scope"))),
                        found.getBoolean("seen")),
                after == null ? "" : after.key(),
                after == null ? "" : after.scope(),
                principal)) {
            if (row.seen()) {
                end = row.place();
            } else {
                theirs.add(row.place());
            }
        }
        return new Stretch(theirs, end);
    }

    /** Gives how many were redacted; the key is what the operation is said to be about. */
    public int redact(Connection connection, List<Place> places, String principal, @Nullable String key, By by)
            throws SQLException {
        return redact.update(
                connection,
                Sql.texts(places.stream().map(Place::key).toList()),
                Sql.texts(places.stream().map(Place::scope).toList()),
                principal,
                by.who(),
                by.why(),
                key);
    }
}
