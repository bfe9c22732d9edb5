package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Lets one thread of all this user's processes in at a time: a file lock, and a monitor because file locks count per
 * process.
 */
final class MachineLock {

    /** Work that touches files. */
    interface Work<T> {
        T run() throws IOException;
    }

    private MachineLock() {}

    static <T> T holding(Path file, Work<T> work) {
        synchronized (MachineLock.class) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (!lock.isValid()) {
                    throw new IOException("the lock was lost");
                }
                return work.run();
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot work under the lock " + file + ": " + e.getMessage(), e);
            }
        }
    }
}
