package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The System V shared memory segment by which a postmaster makes sure that it is alone. A killed one leaves it, and
 * only a start on the same data directory would remove it; macOS has room for 32 of them.
 */
final class SharedMemory {

    /**
     * The line of postmaster.pid (PostgreSQL's {@code miscadmin.h}, {@code LOCK_FILE_LINE_SHMEM_KEY}) that holds its
     * key and its id.
     */
    private static final int LINE = 7;

    private SharedMemory() {}

    /** Removes the segment that is named in a data directory of which no process lives. Its absence is no error. */
    static void remove(Path data) throws IOException {
        Path file = data.resolve("postmaster.pid");
        List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
        if (lines.size() < LINE || Signal.isWindows()) {
            return;
        }
        String keyAndId = lines.get(LINE - 1).strip();
        new ProcessBuilder("ipcrm", "-m", keyAndId.substring(keyAndId.lastIndexOf(' ') + 1))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
