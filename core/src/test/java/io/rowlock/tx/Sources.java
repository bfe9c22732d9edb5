package io.rowlock.tx;

import io.rowlock.spi.ConnectionSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Data sources that give what a test wants. */
final class Sources {
    private Sources() {}

    /** What is done when a method is called. */
    @FunctionalInterface
    interface Heard {
        void called() throws SQLException;
    }

    static DataSource of(ConnectionSource connections) {
        return (DataSource) Proxy.newProxyInstance(
                Sources.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> connections.get());
    }

    /** The connection; does something before one of its methods. */
    static Connection heard(Connection connection, String name, Heard heard) {
        return proxied(connection, name, heard, true);
    }

    /** The connection; does something instead of one of its methods, which gives nothing. */
    static Connection instead(Connection connection, String name, Heard heard) {
        return proxied(connection, name, heard, false);
    }

    private static Connection proxied(Connection connection, String name, Heard heard, boolean also) {
        return (Connection) Proxy.newProxyInstance(
                Sources.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(name)) {
                        heard.called();
                        if (!also) {
                            return null;
                        }
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
