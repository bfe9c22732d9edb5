package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A port for a server that must come back to the same port after a crash: taken from below the range out of which
 * systems number outgoing connections, so that none of those sits on it meanwhile.
 */
final class FreePort {

    private static final int FROM = 20_000;
    private static final int TO = 32_000;
    private static final int TRIES = 200;

    private FreePort() {}

    static int find() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FROM, TO);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port found between " + FROM + " and " + TO);
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
