package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Copies a data directory. The folders become private, as PostgreSQL demands. */
final class FolderCopy extends SimpleFileVisitor<Path> {

    private final Path from;
    private final Path to;
    private final Set<String> emptyFolders;
    private final Set<String> leftOut;

    private FolderCopy(Path from, Path to, Set<String> emptyFolders, Set<String> leftOut) {
        this.from = from;
        this.to = to;
        this.emptyFolders = emptyFolders;
        this.leftOut = leftOut;
    }

    /** Copies all. */
    static void all(Path from, Path to) throws IOException {
        except(from, to, Set.of(), Set.of());
    }

    /** Copies all but the contents of some folders at the top, and files of some names anywhere. */
    static void except(Path from, Path to, Set<String> emptyFolders, Set<String> leftOut) throws IOException {
        Files.walkFileTree(from, new FolderCopy(from, to, emptyFolders, leftOut));
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
        Path target = Files.createDirectory(to.resolve(from.relativize(folder)));
        if (!Signal.isWindows()) {
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwx------"));
        }
        boolean atTop = from.equals(folder.getParent());
        return atTop && emptyFolders.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (!leftOut.contains(file.getFileName().toString())) {
            try {
                Files.copy(file, to.resolve(from.relativize(file)));
            } catch (NoSuchFileException e) {
                return visitFileFailed(file, e);
            }
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
}
