package io.rowlock.checkup;

import io.rowlock.spi.ConnectionSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A pooler in transaction mode: a connection has a session of the server only while its transaction is open, and in
 * autocommit the one that was given back last. For one thread.
 */
final class FakePooler implements ConnectionSource, AutoCloseable {
    private final Deque<Connection> idle = new ArrayDeque<>();

    FakePooler(DataSource server) throws SQLException {
        idle.push(server.getConnection());
        idle.push(server.getConnection());
    }

    @Override
    public Connection get() {
        Client client = new Client();
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> client.call(method, arguments));
    }

    private final class Client {
        private boolean autoCommit = true;
        private @Nullable Connection held;

        @Nullable
        Object call(Method method, Object @Nullable [] arguments) throws Throwable {
            switch (method.getName()) {
                case "setAutoCommit" -> {
                    autoCommit = (Boolean) arguments[0];
                    return null;
                }
                case "getAutoCommit" -> {
                    return autoCommit;
                }
                case "rollback", "commit" -> {
                    end(method);
                    return null;
                }
                case "close" -> {
                    return null;
                }
                default -> {
                    return on(session(method), method, arguments);
                }
            }
        }

        private Connection session(Method method) throws SQLException {
            if (held == null && !autoCommit && method.getName().startsWith("prepare")) {
                held = idle.pop();
                held.setAutoCommit(false);
            }
            return held == null ? idle.peek() : held;
        }

        private void end(Method method) throws Throwable {
            if (held != null) {
                on(held, method, null);
                held.setAutoCommit(true);
                idle.push(held);
                held = null;
            }
        }

        private static @Nullable Object on(Connection session, Method method, Object @Nullable [] arguments)
                throws Throwable {
            try {
                return method.invoke(session, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    @Override
    public void close() throws SQLException {
        for (Connection each : idle) {
            each.close();
        }
    }
}
