package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * PostgreSQL refuses to run as root, and containers like to. So root starts it in a user namespace of its own ({@code
 * unshare -U}), where it is nobody but may still open root's files; where a container forbids that, as the user 65534
 * ({@code setpriv}), who is then given the files.
 */
enum Unprivileged {
    /** Not root: as we are. */
    AS_WE_ARE,
    /** Root, in a user namespace. */
    OWN_NAMESPACE,
    /** Root, as another user. */
    OTHER_USER;

    private static final int NOBODY = 65534;

    static Unprivileged here() {
        return Holder.HERE;
    }

    ProcessBuilder command(List<String> command) {
        List<String> all = new ArrayList<>(prefix());
        all.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(all);
        builder.environment().keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("LC_"));
        builder.environment().put("LC_ALL", "C");
        return builder;
    }

    /** Makes a folder for the one who will run PostgreSQL. */
    void makeFolder(Path folder) throws IOException {
        Files.createDirectory(folder);
        give(folder);
    }

    /** Makes the files readable for the one who will run PostgreSQL. */
    void give(Path folder) {
        if (this != OTHER_USER) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.toList()) {
                Files.setAttribute(path, "unix:uid", NOBODY, LinkOption.NOFOLLOW_LINKS);
                Files.setAttribute(path, "unix:gid", NOBODY, LinkOption.NOFOLLOW_LINKS);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot give " + folder + " to user " + NOBODY + ": " + e.getMessage(), e);
        }
    }

    private List<String> prefix() {
        return switch (this) {
            case AS_WE_ARE -> List.of();
            case OWN_NAMESPACE -> List.of("unshare", "-U");
            case OTHER_USER -> List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
        };
    }

    private boolean works() {
        try {
            return command(List.of("true"))
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static final class Holder {

        static final Unprivileged HERE = find();

        private static Unprivileged find() {
            if (!"root".equals(System.getProperty("user.name"))) {
                return AS_WE_ARE;
            }
            return OWN_NAMESPACE.works() ? OWN_NAMESPACE : OTHER_USER.works() ? OTHER_USER : AS_WE_ARE;
        }
    }
}
