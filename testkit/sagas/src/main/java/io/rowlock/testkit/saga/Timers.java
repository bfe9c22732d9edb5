package io.rowlock.testkit.saga;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Makes what a saga waits for due now, by the database's clock. Locks its rows in the engine's order: saga, steps, driver. */
final class Timers {
    private static final String LOCK = """
            SELECT driver FROM {saga} WHERE id = ? AND finished_at IS NULL FOR NO KEY UPDATE
            """;

    /** Of all the times that its steps wait for the earliest. */
    private static final String EARLIEST_STEPS = """
            UPDATE {saga_step}
            SET due_at = least(due_at, clock_timestamp())
            WHERE saga = ? AND due_at = (
              SELECT min(s.due_at) FROM {saga_step} s
              WHERE s.saga = ? AND s.status IN ('retrying', 'waiting', 'compensating')
                AND (s.status = 'compensating' OR EXISTS (SELECT FROM {saga} own WHERE own.id = s.saga AND own.status = 'running'))
                AND NOT EXISTS (SELECT FROM {saga} c WHERE c.parent = s.saga AND c.parent_step = s.step AND c.finished_at IS NULL))
            """;

    private static final String CHILDREN = """
            SELECT id FROM {saga} WHERE parent = ? AND finished_at IS NULL ORDER BY id
            """;

    private static final String DEADLINE = """
            UPDATE {saga}
            SET deadline = least(deadline, clock_timestamp())
            WHERE id = ? AND deadline IS NOT NULL AND NOT late AND finished_at IS NULL
            """;

    private static final String DRIVER = """
            UPDATE {job}
            SET run_at = least(run_at, clock_timestamp())
            WHERE id = (SELECT driver FROM {saga} WHERE id = ?) AND state = 'ready' AND locked_by IS NULL
            """;

    private final String tables;

    Timers(String schema, String prefix) {
        this.tables = '"' + schema + "\"." + prefix;
    }

    /** False if there is no such saga, or nothing that it waits for has a time. */
    boolean jump(Connection connection, String saga) throws SQLException {
        return lock(connection, saga)
                && update(connection, EARLIEST_STEPS, saga, saga) > 0
                && update(connection, DRIVER, saga) == 1;
    }

    /** False if there is no such saga, or it has no deadline to come. */
    boolean jumpToDeadline(Connection connection, String saga) throws SQLException {
        return lock(connection, saga)
                && update(connection, DEADLINE, saga) == 1
                && update(connection, DRIVER, saga) == 1;
    }

    /** The children that it waits for. */
    List<String> children(Connection connection, String saga) throws SQLException {
        List<String> children = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(named(CHILDREN))) {
            statement.setString(1, saga);
            ResultSet rows = statement.executeQuery();
            while (rows.next()) {
                children.add(rows.getString(1));
            }
        }
        return children;
    }

    private boolean lock(Connection connection, String saga) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(named(LOCK))) {
            statement.setString(1, saga);
            return statement.executeQuery().next();
        }
    }

    private int update(Connection connection, String sql, String... sagas) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(named(sql))) {
            for (int i = 0; i < sagas.length; i++) {
                statement.setString(i + 1, sagas[i]);
            }
            return statement.executeUpdate();
        }
    }

    private String named(String sql) {
        return sql.replaceAll("\\{(\\w+)\\}", tables + "$1");
    }
}
