package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.stream.Stream;

/*
 * A folder that is filled once and used by every later JVM. It is filled under another name and then renamed, so that
 * nobody sees it half full. Systems clear old files out of temporary folders one by one, and a PostgreSQL without some
 * of its files fails oddly, so the number of files is kept beside the folder; if it does not fit, the folder is put
 * aside and filled again.
 */
final class KeptFolder {

    /** Fills a folder that does not exist yet. */
    interface Filling {
        void fill(Path folder) throws IOException;
    }

    private KeptFolder() {}

    /** The whole folder; blocks while this or another JVM fills it. */
    static Path whole(Path folder, Filling filling) {
        Path lock = folder.resolveSibling(folder.getFileName() + ".lock");
        return MachineLock.holding(lock, () -> {
            if (!isWhole(folder)) {
                if (Files.exists(folder)) {
                    Files.move(folder, other(folder, "incomplete"));
                }
                Path half = other(folder, "half");
                filling.fill(half);
                Files.writeString(countFile(folder), count(half));
                Files.move(half, folder, StandardCopyOption.ATOMIC_MOVE);
            }
            return folder;
        });
    }

    private static boolean isWhole(Path folder) throws IOException {
        return Files.isDirectory(folder)
                && Files.exists(countFile(folder))
                && Files.readString(countFile(folder)).equals(count(folder));
    }

    private static String count(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return Long.toString(all.count());
        }
    }

    private static Path countFile(Path folder) {
        return folder.resolveSibling(folder.getFileName() + ".count");
    }

    private static Path other(Path folder, String word) {
        return folder.resolveSibling(folder.getFileName() + "-" + word + "-" + UUID.randomUUID());
    }
}
