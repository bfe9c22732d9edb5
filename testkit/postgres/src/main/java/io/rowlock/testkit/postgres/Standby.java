package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

/** Makes a streaming standby of a running embedded server. */
final class Standby {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private Standby() {}

    /** A started standby that streams; the primary's commits wait for it if that is wanted. */
    static EmbeddedServer of(EmbeddedServer primary, boolean synchronous) {
        String name = "standby_" + UUID.randomUUID().toString().substring(0, 8);
        EmbeddedServer standby = EmbeddedServer.empty();
        try (Connection connection = primary.connect()) {
            BaseBackup.take(connection, primary.data(), standby.data(), name);
            Files.createFile(standby.data().resolve("standby.signal"));
            standby.follow(primary.port(), name);
            standby.start();
            await(connection, name, "state", "streaming");
            if (synchronous) {
                makeSynchronous(connection, name);
            }
            return standby;
        } catch (SQLException e) {
            standby.delete();
            throw new IllegalStateException("No standby could be made of " + primary.url() + ": " + e.getMessage(), e);
        } catch (IOException e) {
            standby.delete();
            throw new UncheckedIOException("No standby could be made of " + primary.url() + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            standby.delete();
            throw e;
        }
    }

    static void promote(EmbeddedServer standby) {
        try (Connection connection = standby.connect()) {
            if (!isStandby(connection)) {
                throw new IllegalStateException("Not a standby: " + standby.url());
            }
            Statements.rows(connection, "SELECT pg_promote(true, ?)", (int) LIMIT.toSeconds());
            if (isStandby(connection)) {
                throw new IllegalStateException("Not promoted within " + LIMIT.toSeconds() + " s: " + standby.url());
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot promote " + standby.url() + ": " + e.getMessage(), e);
        }
    }

    private static boolean isStandby(Connection connection) throws SQLException {
        return Boolean.TRUE.equals(Statements.list(connection, Boolean.class, "SELECT pg_is_in_recovery()")
                .get(0));
    }

    private static void makeSynchronous(Connection connection, String name) throws SQLException {
        Statements.execute(connection, "ALTER SYSTEM SET synchronous_standby_names = '" + name + "'");
        Statements.execute(connection, "ALTER SYSTEM SET synchronous_commit = on");
        Statements.execute(connection, "SELECT pg_reload_conf()");
        await(connection, name, "sync_state", "sync");
    }

    private static void await(Connection connection, String name, String column, String wanted) throws SQLException {
        String sql = "SELECT " + column + " FROM pg_stat_replication WHERE application_name = ?";
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!Statements.list(connection, String.class, sql, name).contains(wanted)) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(
                        "The standby " + name + " was not " + wanted + " within " + LIMIT.toSeconds() + " s");
            }
            Statements.execute(connection, "SELECT pg_sleep(0.02)");
        }
    }
}
