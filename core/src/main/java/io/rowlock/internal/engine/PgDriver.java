package io.rowlock.internal.engine;

import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the PostgreSQL driver knows of a connection beyond JDBC: what it has heard, which session it was given, whether it
 * prepares statements on the server. Rowlock is built against JDBC alone: so the driver's interface is looked up by name,
 * beside the classes of the connection, of the application and of Rowlock, wherever the driver may be.
 */
final class PgDriver {
    private static final String INTERFACE = "org.postgresql.PGConnection";

    private final Object connection;
    private final Class<?> type;

    private PgDriver(Object connection, Class<?> type) {
        this.connection = connection;
        this.type = type;
    }

    /** The driver's own connection; empty if there is no way through a wrapper to the driver's own connection. */
    static Optional<PgDriver> of(Connection connection) {
        for (ClassLoader loader : Arrays.asList(
                connection.getClass().getClassLoader(),
                Thread.currentThread().getContextClassLoader(),
                PgDriver.class.getClassLoader())) {
            try {
                Class<?> type = Class.forName(INTERFACE, false, loader);
                if (connection.isWrapperFor(type)) {
                    return Optional.of(new PgDriver(connection.unwrap(type), type));
                }
            } catch (ClassNotFoundException | LinkageError | SQLException | RuntimeException notHere) {
                // the next may know it
            }
        }
        return Optional.empty();
    }

    /** One and the same object as long as the session lasts, whatever wraps it. */
    Object session() {
        return connection;
    }

    /** Waits for so long, or until something is heard, and gives the texts in their order. Sends nothing to the server. */
    List<String> await(int millis) throws SQLException {
        List<String> texts = new ArrayList<>();
        if (call(type, "getNotifications", connection, Math.max(1, millis)) instanceof Object[] heard) {
            for (Object each : heard) {
                texts.add(String.valueOf(text(each)));
            }
        }
        return texts;
    }

    /** A session listens to one channel only, so its name is not asked for. */
    private static @Nullable Object text(Object notification) throws SQLException {
        try {
            Class<?> notified = Class.forName(
                    "org.postgresql.PGNotification",
                    false,
                    notification.getClass().getClassLoader());
            return call(notified, "getParameter", notification);
        } catch (ClassNotFoundException e) {
            throw new SQLException("The driver's notifications cannot be read", "0A000", e);
        }
    }

    /** The process of the server that greeted the driver; where that was a pooler, a number of its own. */
    int backend() throws SQLException {
        return call(type, "getBackendPID", connection) instanceof Integer pid ? pid : 0;
    }

    /** After how many uses it prepares a statement on the server; 0 for never. */
    int prepareThreshold() throws SQLException {
        return call(type, "getPrepareThreshold", connection) instanceof Integer uses ? uses : 0;
    }

    void prepareThreshold(int uses) throws SQLException {
        call(type, "setPrepareThreshold", connection, uses);
    }

    private static @Nullable Object call(Class<?> type, String method, Object on, int... argument) throws SQLException {
        try {
            return argument.length == 0
                    ? type.getMethod(method).invoke(on)
                    : type.getMethod(method, int.class).invoke(on, argument[0]);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof SQLException refused ? refused : new SQLException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new SQLException("The driver has no " + method, "0A000", e);
        }
    }
}
