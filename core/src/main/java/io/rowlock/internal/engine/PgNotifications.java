package io.rowlock.internal.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What the PostgreSQL driver has heard on a connection. JDBC knows no notifications, and Rowlock is built against JDBC
 * alone: so the driver's interface is looked up by name, beside the classes of the connection, of the application and of
 * Rowlock, wherever the driver may be.
 */
final class PgNotifications {
    private static final String INTERFACE = "org.postgresql.PGConnection";

    private final Object connection;
    private final Method getNotifications;

    private PgNotifications(Object connection, Method getNotifications) {
        this.connection = connection;
        this.getNotifications = getNotifications;
    }

    /** What this connection hears; empty if there is no way through a wrapper to the driver's own connection. */
    static Optional<PgNotifications> of(Connection connection) {
        for (ClassLoader loader : Arrays.asList(
                connection.getClass().getClassLoader(),
                Thread.currentThread().getContextClassLoader(),
                PgNotifications.class.getClassLoader())) {
            try {
                Class<?> type = Class.forName(INTERFACE, false, loader);
                if (connection.isWrapperFor(type)) {
                    return Optional.of(new PgNotifications(
                            connection.unwrap(type), type.getMethod("getNotifications", int.class)));
                }
            } catch (ReflectiveOperationException | LinkageError | SQLException | RuntimeException notHere) {
                // the next may know it
            }
        }
        return Optional.empty();
    }

    /** Waits for so long, or until something is heard, and gives the texts in their order. Sends nothing to the server. */
    List<String> await(int millis) throws SQLException {
        try {
            List<String> texts = new ArrayList<>();
            if (getNotifications.invoke(connection, Math.max(1, millis)) instanceof Object[] heard) {
                for (Object each : heard) {
                    texts.add(String.valueOf(text(each)));
                }
            }
            return texts;
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof SQLException refused ? refused : new SQLException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new SQLException("The driver's notifications cannot be read", "0A000", e);
        }
    }

    /** A session listens to one channel only, so its name is not asked for. */
    private static Object text(Object notification) throws ReflectiveOperationException {
        Method getParameter = Class.forName(
                        "org.postgresql.PGNotification",
                        false,
                        notification.getClass().getClassLoader())
                .getMethod("getParameter");
        return getParameter.invoke(notification);
    }
}
