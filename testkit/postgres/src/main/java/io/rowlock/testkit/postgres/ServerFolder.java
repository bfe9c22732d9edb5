package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Where an embedded server lives: <temporary folder>/rowlock-postgres-<user>/server-<pid of the JVM>-<random>, with
 * the cluster in data/, what the server says in server.log, and the file owner, which the JVM holds locked as long as
 * it lives.
 *
 * A JVM killed with -9 cannot clean up after itself, and tests of crashes kill JVMs. So whoever makes a folder first
 * sweeps: a folder whose owner file can be locked belongs to nobody any more; its server is killed, its files are
 * deleted. Making and sweeping happen under one lock of all this user's JVMs, so that a folder is never seen between
 * being made and being locked. Folders of this same JVM are skipped by name: closing a second descriptor of a file
 * drops POSIX locks held through the first.
 */
final class ServerFolder {

    private static final Logger LOG = LoggerFactory.getLogger(ServerFolder.class);
    private static final String LOCK = "servers.lock";
    private static final String PREFIX = "server-";

    private final Path path;
    private final FileChannel owner;

    private ServerFolder(Path path, FileChannel owner) {
        this.path = path;
        this.owner = owner;
    }

    /** The folder of all embedded servers of this user; made if it is not there. */
    static Path home() {
        String user = System.getProperty("user.name").replaceAll("[^A-Za-z0-9]", "_");
        Path home = Path.of(System.getProperty("java.io.tmpdir"), "rowlock-postgres-" + user);
        try {
            return Files.createDirectories(home).toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make the folder for embedded servers " + home, e);
        }
    }

    static ServerFolder create() {
        Path home = home();
        return MachineLock.holding(home.resolve(LOCK), () -> {
            sweep(home);
            String random = UUID.randomUUID().toString().substring(0, 8);
            Path path = Files.createDirectory(home.resolve(ownPrefix() + random));
            FileChannel owner = open(path);
            if (owner.tryLock() == null) {
                throw new IOException("cannot lock " + path);
            }
            return new ServerFolder(path, owner);
        });
    }

    Path path() {
        return path;
    }

    Path data() {
        return path.resolve("data");
    }

    Path log() {
        return path.resolve("server.log");
    }

    /** Deletes the folder with everything in it, if it is there. The server must not run any more. */
    void delete() {
        MachineLock.holding(home().resolve(LOCK), () -> {
            owner.close();
            SharedMemory.remove(data());
            delete(path);
            return path;
        });
    }

    private static String ownPrefix() {
        return PREFIX + ProcessHandle.current().pid() + "-";
    }

    private static FileChannel open(Path folder) throws IOException {
        return FileChannel.open(folder.resolve("owner"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private static void sweep(Path home) throws IOException {
        for (Path folder : list(home)) {
            String name = folder.getFileName().toString();
            if (name.startsWith(PREFIX) && !name.startsWith(ownPrefix())) {
                sweepOne(folder);
            }
        }
    }

    /** One that cannot be cleared away is left to the next who sweeps. */
    private static void sweepOne(Path folder) {
        try {
            if (isAbandoned(folder)) {
                LOG.debug("Clearing away {}, which a JVM that was killed left behind", folder);
                postmaster(folder).ifPresent(ProcessTree::kill);
                SharedMemory.remove(folder.resolve("data"));
                delete(folder);
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("Cannot clear away {}", folder, e);
        }
    }

    private static boolean isAbandoned(Path folder) throws IOException {
        try (FileChannel channel = open(folder);
                FileLock lock = channel.tryLock()) {
            return lock != null;
        }
    }

    /** The process named by postmaster.pid, if it still is a postmaster: process ids are used again. */
    private static Optional<ProcessHandle> postmaster(Path folder) throws IOException {
        Path file = folder.resolve("data").resolve("postmaster.pid");
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        long pid = Long.parseLong(Files.readAllLines(file).get(0).strip());
        return ProcessHandle.of(pid)
                .filter(process -> process.info().command().orElse("").contains("postgres"));
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> children = Files.list(folder)) {
            return children.toList();
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
