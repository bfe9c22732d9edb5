package io.rowlock.benchmark.run;

import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The one PostgreSQL of a run: durable, and large enough that the load and not the defaults of 1996 limit it. */
final class Server implements AutoCloseable {
    private static final List<String> TOLD = List.of(
            "server_version",
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "shared_buffers",
            "max_wal_size",
            "checkpoint_timeout",
            "wal_level",
            "autovacuum",
            "max_connections",
            "jit");

    private final OwnPostgres postgres;

    Server() {
        this.postgres = TestPostgres.embedded(options -> options.durable()
                .setting("shared_buffers", "1GB")
                .setting("max_wal_size", "8GB")
                .setting("checkpoint_timeout", "30min")
                .setting("max_connections", "300")
                .setting("jit", "off")
                .setting("shared_preload_libraries", "pg_stat_statements")
                .setting("pg_stat_statements.track", "none")); // but where statements are counted
    }

    TestPostgres postgres() {
        return postgres;
    }

    /** Settings that figures depend on, as the server says them. */
    Map<String, String> settings() throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        try (Connection connection = postgres.connect();
                Statement statement = connection.createStatement()) {
            for (String name : TOLD) {
                try (ResultSet row = statement.executeQuery("SHOW " + name)) {
                    row.next();
                    settings.put(name, row.getString(1));
                }
            }
        }
        return settings;
    }

    @Override
    public void close() {
        postgres.close();
    }
}
