package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.List;

/** Statements about idempotency keys whose plans are pinned. */
final class IdempotencyStatements {
    private IdempotencyStatements() {}

    /** Twenty thousand keys, of which one in ten has expired. */
    static void load(TestSchema schema) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_idempotency_key (key, scope, principal, method, path, fingerprint, response, expires_at)"
                        + " SELECT 'key-' || n, sha256('scope'), 'ada', 'POST', '/orders', 'f', '{}',"
                        + " clock_timestamp() + CASE WHEN n % 10 = 0 THEN interval '-1 minute' ELSE interval '1 day' END"
                        + " FROM generate_series(1, 20000) n");
    }

    static List<Pinned> all() {
        List<String> key = List.of("rowlock_idempotency_key_pk");
        byte[] scope = new byte[32];
        return List.of(
                pin("idempotency-find", IdempotencySql.FIND, key, "key-7", scope),
                pin("answers-under-key", AnswerSql.FIND, key, "key-7", "ada"),
                pin("answers-of-principal", AnswerSql.OF_PRINCIPAL, key, "key-7", "00", "ada"),
                pin(
                        "redact-answers",
                        AnswerSql.REDACT,
                        key,
                        Sql.texts(List.of("key-7", "key-8")),
                        Sql.texts(List.of("00", "00")),
                        "ada",
                        "eve",
                        "why",
                        null),
                pin(
                        "idempotency-store",
                        IdempotencySql.STORE,
                        key,
                        "key-new",
                        scope,
                        "ada",
                        "POST",
                        "/orders",
                        "f",
                        "{}",
                        60_000_000L));
    }
}
