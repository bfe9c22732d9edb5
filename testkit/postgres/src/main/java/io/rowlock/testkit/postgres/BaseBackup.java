package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/**
 * A copy of a running server's data directory, by the functions of PostgreSQL's low-level backup API (its manual,
 * "Making a Base Backup Using the Low Level API"), because the embedded binaries come without {@code pg_basebackup}.
 * The WAL that the copy needs is not copied: a replication slot, made first, keeps it on the server until the standby
 * has streamed it.
 */
final class BaseBackup {

    /** Directories that are needed, but whose contents are not. */
    private static final Set<String> EMPTY = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_stat_tmp",
            "pg_subtrans",
            "pg_notify",
            "pg_dynshmem",
            "pg_serial",
            "pg_snapshots");

    private static final Set<String> LEFT_OUT = Set.of("postmaster.pid", "postmaster.opts", "pg_internal.init");

    private BaseBackup() {}

    static void take(Connection connection, Path from, Path to, String slot) throws SQLException, IOException {
        Statements.rows(connection, "SELECT pg_create_physical_replication_slot(?, true)::text", slot);
        Statements.rows(connection, "SELECT pg_backup_start(?, true)::text", slot);
        FolderCopy.except(from, to, EMPTY, LEFT_OUT);
        String label = Statements.list(connection, String.class, "SELECT labelfile FROM pg_backup_stop(false)")
                .get(0);
        if (label == null) {
            throw new IllegalStateException("pg_backup_stop gave no label");
        }
        Files.writeString(to.resolve("backup_label"), label);
    }
}
