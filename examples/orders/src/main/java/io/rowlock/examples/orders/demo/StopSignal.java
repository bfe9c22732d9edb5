package io.rowlock.examples.orders.demo;

import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.List;

/**
 * Ctrl-C and SIGTERM: the first interrupts the thread that made this, which then stops everything in order; a second
 * one ends the process at once.
 *
 * <p>In an application with its database elsewhere, a plain {@code Runtime.addShutdownHook(new Thread(shop::close))}
 * does this. Here the embedded PostgreSQL has a shutdown hook too, all hooks run at the same time, and the database
 * would be gone before the worker has written its last outcomes. So the signals are caught before the JVM begins to
 * shut down, by {@code sun.misc.Signal}: through reflection, as javac warns of the class whenever it is named.
 */
final class StopSignal {
    private static final int INTERRUPTED = 130;

    private final Thread user = Thread.currentThread();
    private final PrintStream out;
    private volatile boolean received;

    /** Begins to listen. */
    StopSignal(PrintStream out) {
        this.out = out;
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object handler = Proxy.newProxyInstance(
                    StopSignal.class.getClassLoader(), new Class<?>[] {handlerType}, (self, method, arguments) -> {
                        receive();
                        return null;
                    });
            for (String name : List.of("INT", "TERM")) {
                Object signal = type.getConstructor(String.class).newInstance(name);
                type.getMethod("handle", type, handlerType).invoke(null, signal, handler);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This JVM has no sun.misc.Signal", e);
        }
    }

    boolean received() {
        return received;
    }

    private synchronized void receive() {
        if (received) {
            System.exit(INTERRUPTED);
        }
        received = true;
        out.println();
        out.println("Stopping: no new orders, running jobs may end …");
        user.interrupt();
    }
}
