package io.rowlock.saga.fault;

import io.rowlock.saga.StepContext;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * The outside services' own books, in a schema that Rowlock does not know, over connections of their own without any
 * transaction. As good services they do each thing once per key, and whoever calls a key off keeps it from being done
 * later. What is done in the saga's own transaction is written beside Rowlock's tables instead: {@link #inTransaction}.
 */
final class Books implements AutoCloseable {
    private static final int CONNECTIONS = 4;

    private final TestSchema schema;
    private final String who;
    private final BlockingQueue<Connection> connections = new ArrayBlockingQueue<>(CONNECTIONS);

    private Books(TestSchema schema, String who) throws SQLException {
        this.schema = schema;
        this.who = who;
        for (int i = 0; i < CONNECTIONS; i++) {
            connections.add(schema.connect());
        }
    }

    /** New ones, and beside Rowlock's tables the one of what is done in transactions. */
    static Books create(TestSchema rowlock) throws SQLException {
        return create(rowlock, rowlock.server());
    }

    /** New ones on a server that may be another than Rowlock's. */
    static Books create(TestSchema rowlock, TestPostgres server) throws SQLException {
        TestSchema schema = TestSchema.create(server, "books");
        schema.execute("""
                CREATE SEQUENCE turn;
                CREATE TABLE call (saga text, step text, undo boolean, key text, attempt int, who text, turn bigint DEFAULT nextval('turn'));
                CREATE TABLE deed (key text PRIMARY KEY, saga text, step text, amount bigint, done bigint, undone bigint,
                                   calls int NOT NULL DEFAULT 0, undos int NOT NULL DEFAULT 0);
                CREATE INDEX call_saga ON call (saga);
                CREATE INDEX deed_saga ON deed (saga);
                """);
        rowlock.execute("CREATE SCHEMA IF NOT EXISTS " + schema.name());
        rowlock.execute("CREATE SEQUENCE IF NOT EXISTS " + schema.name() + ".turn");
        rowlock.execute("CREATE TABLE invoice (saga text, step text, amount bigint, undo boolean, turn bigint)");
        return new Books(schema, "test");
    }

    /** Those that another process has made. */
    static Books existing(TestSchema rowlock, String name, String who) throws SQLException {
        return new Books(TestSchema.existing(rowlock.server(), name), who);
    }

    String name() {
        return schema.name();
    }

    TestSchema schema() {
        return schema;
    }

    /** Does what the step asks for, once under its key. */
    void perform(StepContext step, long amount) throws Exception {
        note(step, step.step(), false);
        boolean calledOff = ask("""
                INSERT INTO deed AS d (key, saga, step, amount, done, calls) VALUES (?, ?, ?, ?, nextval('turn'), 1)
                ON CONFLICT (key) DO UPDATE SET calls = d.calls + 1
                RETURNING undone IS NOT NULL
                """, step.key(), step.sagaId(), step.step(), amount);
        if (calledOff) {
            throw new IllegalStateException("key " + step.key() + " was called off before");
        }
    }

    /** Undoes what was done under the step's key, once, and keeps it from being done later. */
    void undo(StepContext step) throws Exception {
        note(step, step.step(), true);
        ask("""
                INSERT INTO deed AS d (key, saga, step, undone, undos) VALUES (?, ?, ?, nextval('turn'), 1)
                ON CONFLICT (key) DO UPDATE SET undone = coalesce(d.undone, excluded.undone), undos = d.undos + 1
                RETURNING false
                """, step.key(step.step()), step.sagaId(), step.step());
    }

    /** Undoes all that a child saga has done. */
    void undoAll(StepContext step, String child) throws Exception {
        note(step, step.step(), true);
        ask("""
                WITH undone AS (
                  UPDATE deed SET undone = coalesce(undone, nextval('turn')), undos = undos + 1 WHERE saga = ?)
                SELECT false
                """, child);
    }

    /** Writes what is done, or undone, in a transaction of the saga's. */
    void inTransaction(StepContext step, Connection connection, long amount, boolean undo) throws Exception {
        note(step, step.step(), undo);
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO invoice (saga, step, amount, undo, turn) VALUES (?, ?, ?, ?, nextval('" + schema.name()
                        + ".turn'))")) {
            fill(insert, step.sagaId(), step.step(), amount, undo);
            insert.executeUpdate();
        }
    }

    private void note(StepContext step, String name, boolean undo) throws Exception {
        ask(
                "INSERT INTO call (saga, step, undo, key, attempt, who) VALUES (?, ?, ?, ?, ?, ?) RETURNING false",
                step.sagaId(),
                name,
                undo,
                step.key(),
                step.attempt(),
                who);
    }

    private boolean ask(String sql, Object... values) throws Exception {
        Connection connection = connections.take();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            fill(statement, values);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        } finally {
            connections.add(connection);
        }
    }

    private static void fill(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    /** What stands in them of a saga, each as {@code step done}, {@code step undone} or {@code step called off}, in the order of doing. */
    List<String> of(String saga) throws SQLException {
        return schema.list(String.class, """
                SELECT step || CASE WHEN done IS NULL THEN ' called off' WHEN undone IS NULL THEN ' done' ELSE ' undone' END
                FROM deed WHERE saga = ? ORDER BY coalesce(done, undone)
                """, saga);
    }

    /** The steps that were undone, in that order. */
    List<String> undone(String saga) throws SQLException {
        return schema.list(
                String.class, "SELECT step FROM deed WHERE saga = ? AND undone IS NOT NULL ORDER BY undone", saga);
    }

    /** Steps that were called under more than one key, or directions that share one. */
    List<String> severalKeys() throws SQLException {
        return schema.list(String.class, """
                SELECT saga || ' ' || step || ' ' || undo FROM call GROUP BY saga, step, undo HAVING count(DISTINCT key) > 1
                UNION ALL
                SELECT 'shared: ' || key FROM call GROUP BY key HAVING count(DISTINCT (saga, step, undo)) > 1
                """);
    }

    /** What is done and not undone, of all sagas: the sum of a step's amounts. */
    long sum(String step) throws SQLException {
        return schema.count(
                "SELECT coalesce(sum(amount), 0)::bigint FROM deed WHERE step = ? AND done IS NOT NULL AND undone IS NULL",
                step);
    }

    @Override
    public void close() throws SQLException {
        for (Connection connection : connections) {
            connection.close();
        }
    }
}
