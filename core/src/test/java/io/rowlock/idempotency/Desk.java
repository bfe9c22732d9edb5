package io.rowlock.idempotency;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.TestSchema;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Takes orders: each writes a row, and is answered with its number. */
final class Desk {
    /** What a client is told. */
    record Receipt(int status, long order) {}

    private final TestSchema schema;
    private final IdempotencyKeys keys;

    private Desk(TestSchema schema, IdempotencyKeys keys) {
        this.schema = schema;
        this.keys = keys;
    }

    static Desk of(TestRowlock rowlock) throws SQLException {
        rowlock.schema()
                .execute("CREATE TABLE IF NOT EXISTS ordered (id bigint GENERATED ALWAYS AS IDENTITY, what text)");
        rowlock.schema().execute("TRUNCATE ordered RESTART IDENTITY");
        return beside(rowlock);
    }

    /** Another desk for the same orders. */
    static Desk beside(TestRowlock rowlock) {
        return new Desk(rowlock.schema(), rowlock.rowlock().idempotencyKeys());
    }

    Desk with(IdempotencyOptions options) {
        return new Desk(schema, keys.with(options));
    }

    static IdempotentRequest post(String key, String body) {
        return IdempotentRequest.of(
                new IdempotencyKey(key), "acme/ada", "POST", "/orders", body.getBytes(StandardCharsets.UTF_8));
    }

    /** In a transaction of its own. */
    Answer<Receipt> order(IdempotentRequest request) throws SQLException {
        try (Connection connection = schema.begin()) {
            Answer<Receipt> answer = order(connection, request);
            connection.commit();
            return answer;
        }
    }

    Answer<Receipt> order(Connection connection, IdempotentRequest request) throws SQLException {
        return keys.execute(connection, request, Receipt.class, () -> Outcome.stored(write(connection, request)));
    }

    static Receipt write(Connection connection, IdempotentRequest request) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery(
                        "INSERT INTO ordered (what) VALUES ('" + request.key().value() + "') RETURNING id")) {
            row.next();
            return new Receipt(201, row.getLong(1));
        }
    }

    long orders() throws SQLException {
        return schema.count("SELECT count(*) FROM ordered");
    }

    long rows() throws SQLException {
        return schema.count("SELECT count(*) FROM rowlock_idempotency_key");
    }
}
