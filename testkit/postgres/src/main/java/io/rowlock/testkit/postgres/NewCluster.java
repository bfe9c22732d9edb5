package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Makes the data directory of a new cluster: a copy of one that {@code initdb} made once for each version of the
 * binaries, because copying takes a tenth of the time. So all embedded clusters have the same system identifier.
 */
final class NewCluster {

    private NewCluster() {}

    static void in(ServerFolder folder, PostgresBinaries binaries, PostgresPrograms programs) {
        Path template = KeptFolder.whole(binaries.templateCluster(), half -> {
            Unprivileged.here().makeFolder(half);
            initialize(half, programs);
        });
        try {
            FolderCopy.all(template, folder.data());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a new cluster in " + folder.data() + ": " + e.getMessage(), e);
        }
    }

    /** The locale is fixed, so that a test sorts alike on every machine. */
    private static void initialize(Path data, PostgresPrograms programs) {
        programs.run(
                "initdb",
                "-D",
                data.toString(),
                "-U",
                EmbeddedServer.USER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync");
    }
}
