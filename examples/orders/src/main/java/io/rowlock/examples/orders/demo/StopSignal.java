package io.rowlock.examples.orders.demo;

import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Ctrl-C and SIGTERM: the first is seen by whoever asks here, and stops everything in order; a second one ends the
 * process at once. Nobody is interrupted: too much that is called while starting swallows that. Safe for use by many
 * threads.
 *
 * <p>In an application with its database elsewhere, a plain {@code Runtime.addShutdownHook(new Thread(shop::close))}
 * does this. Here the embedded PostgreSQL has a shutdown hook too, all hooks run at the same time, and the database
 * would be gone before the worker has written its last outcomes. So the signals are caught before the JVM begins to
 * shut down, by {@code sun.misc.Signal}: through reflection, as javac warns of the class whenever it is named.
 */
final class StopSignal {
    private static final int INTERRUPTED = 130;

    private final CountDownLatch received = new CountDownLatch(1);

    /** Thrown where a signal was seen. */
    static final class Stopped extends Exception {
        private static final long serialVersionUID = 1L;

        Stopped() {
            super("A signal to stop was received");
        }
    }

    /** Throws if a signal has come. */
    void check() throws Stopped {
        if (received.getCount() == 0) {
            throw new Stopped();
        }
    }

    /** Waits until a signal comes. */
    void await() throws InterruptedException {
        received.await();
    }

    /** Catches the signals from now on. */
    void listen(PrintStream out) {
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object handler = Proxy.newProxyInstance(
                    StopSignal.class.getClassLoader(), new Class<?>[] {handlerType}, (self, method, arguments) -> {
                        receive(out);
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

    private synchronized void receive(PrintStream out) {
        if (received.getCount() == 0) {
            System.exit(INTERRUPTED);
        }
        out.println();
        out.println("Stopping: no new orders, running jobs may end …");
        received.countDown();
    }
}
