package io.rowlock.examples.orders.demo;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for on the command line.
 *
 * @param serve keep serving instead of sending a file
 * @param port the port to serve on
 * @param file the file to send, or null for the bundled sample
 */
record DemoOptions(boolean serve, int port, @Nullable Path file) {
    static final String USAGE = """
            Usage: ./demo [FILE]
                   ./demo --serve [--port N]
                   ./demo --help
            """;

    private static final int DEFAULT_PORT = 8080;

    /** Thrown for a command line that makes no sense. */
    static final class WrongUsage extends Exception {
        private static final long serialVersionUID = 1L;

        WrongUsage(String message) {
            super(message);
        }
    }

    static DemoOptions parse(String... arguments) throws WrongUsage {
        Deque<String> rest = new ArrayDeque<>(List.of(arguments));
        boolean serve = false;
        Integer port = null;
        Path file = null;
        while (!rest.isEmpty()) {
            String next = rest.pop();
            if (next.equals("--serve")) {
                serve = true;
            } else if (next.equals("--port")) {
                port = port(rest.poll());
            } else if (next.startsWith("-") && next.length() > 1) {
                throw new WrongUsage("Unknown option " + next);
            } else if (file != null) {
                throw new WrongUsage("One file at a time, got " + file + " and " + next);
            } else {
                file = Path.of(next);
            }
        }
        if (serve && file != null) {
            throw new WrongUsage("--serve takes no file; send orders to it by HTTP");
        }
        if (!serve && port != null) {
            throw new WrongUsage("--port belongs to --serve");
        }
        return new DemoOptions(serve, port == null ? DEFAULT_PORT : port, file);
    }

    private static int port(@Nullable String text) throws WrongUsage {
        if (text != null && text.matches("\\d{1,5}")) {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= 65_535) {
                return port;
            }
        }
        throw new WrongUsage("--port needs a number from 1 to 65535" + (text == null ? "" : ", got " + text));
    }
}
