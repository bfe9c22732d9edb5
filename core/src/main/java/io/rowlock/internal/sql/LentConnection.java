package io.rowlock.internal.sql;

import io.rowlock.error.InvalidUseException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection as those see it who work in a transaction that another ends: everything passes but what would end it. A COMMIT as
 * text goes round it.
 */
public final class LentConnection implements InvocationHandler {
    private final Connection connection;
    private final String whose;
    private @Nullable Integer isolationBefore;

    private LentConnection(Connection connection, String whose) {
        this.connection = connection;
        this.whose = whose;
    }

    /**
     * The same connection, lent.
     *
     * @param whose who must not end it, and why: the rest of the sentence "... is not for"
     */
    public static Connection of(Connection connection, String whose) {
        return lend(connection, whose).seen();
    }

    /** The same, for who puts the connection back as it was. */
    public static LentConnection lend(Connection connection, String whose) {
        return new LentConnection(connection, whose);
    }

    /** As those see it who work. */
    public Connection seen() {
        return (Connection)
                Proxy.newProxyInstance(LentConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this);
    }

    /** Puts an isolation back that they have set; outside of a transaction. */
    public void restoreIsolation() throws SQLException {
        if (isolationBefore != null) {
            connection.setTransactionIsolation(isolationBefore);
        }
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
        if (ends(method.getName(), args)) {
            throw new InvalidUseException(
                    method.getName() + " is not for " + whose + "; return to commit, throw to roll back");
        }
        if (method.getDeclaringClass() == Object.class && args != null) {
            return proxy == args[0]; // equals is the only such method with an argument
        }
        try {
            return method.getName().equals("setTransactionIsolation")
                    ? isolate(method, args)
                    : method.invoke(connection, args);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private @Nullable Object isolate(Method method, @Nullable Object @Nullable [] args)
            throws SQLException, ReflectiveOperationException {
        int before = connection.getTransactionIsolation();
        Object nothing = method.invoke(connection, args);
        isolationBefore = isolationBefore == null ? Integer.valueOf(before) : isolationBefore;
        return nothing;
    }

    private static boolean ends(String method, @Nullable Object @Nullable [] args) {
        return switch (method) {
            case "commit", "close", "abort" -> true;
            case "rollback" -> args == null; // with a savepoint it ends nothing
            case "setAutoCommit" -> args != null && Boolean.TRUE.equals(args[0]);
            default -> false;
        };
    }
}
