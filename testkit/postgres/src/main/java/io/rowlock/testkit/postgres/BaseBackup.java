package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
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
        copy(from, to);
        String label = Statements.list(connection, String.class, "SELECT labelfile FROM pg_backup_stop(false)")
                .get(0);
        if (label == null) {
            throw new IllegalStateException("pg_backup_stop gave no label");
        }
        Files.writeString(to.resolve("backup_label"), label);
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                Path target = Files.createDirectory(to.resolve(from.relativize(folder)));
                if (!Signal.isWindows()) {
                    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwx------"));
                }
                boolean atTop = from.equals(folder.getParent());
                return atTop && EMPTY.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!LEFT_OUT.contains(file.getFileName().toString())) {
                    Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                }
                return FileVisitResult.CONTINUE;
            }

            /** A file that the server deleted meanwhile is not missed: the WAL tells of it. */
            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
    }
}
