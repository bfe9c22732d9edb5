package io.rowlock.testkit.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** Drops a schema even if sessions of a test that ended still hold locks in it. */
final class SchemaDrop {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String DROP = """
            SET lock_timeout = '3s';
            DROP SCHEMA IF EXISTS %s CASCADE
            """;

    private static final String TERMINATE = """
            SELECT pg_terminate_backend(pid, 3000)
              FROM pg_stat_activity
             WHERE application_name = ? AND pid <> pg_backend_pid()
            """;

    private SchemaDrop() {}

    static void run(TestPostgres server, String name) throws SQLException {
        try (Connection connection = server.connect()) {
            try {
                Statements.execute(connection, DROP.formatted(name));
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
                Statements.rows(connection, TERMINATE, name);
                Statements.execute(connection, DROP.formatted(name));
            }
        }
    }
}
