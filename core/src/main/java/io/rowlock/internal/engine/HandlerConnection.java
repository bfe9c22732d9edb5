package io.rowlock.internal.engine;

import io.rowlock.error.InvalidUseException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * The connection as a transactional handler sees it: everything passes but what would end the transaction, which also
 * completes the job (promise P4). What goes round it, such as a COMMIT as text, is found when the job is completed.
 */
final class HandlerConnection implements InvocationHandler {
    private final Connection connection;

    private HandlerConnection(Connection connection) {
        this.connection = connection;
    }

    static Connection of(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                HandlerConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new HandlerConnection(connection));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
        if (ends(method.getName(), args)) {
            throw new InvalidUseException(
                    method.getName() + " is not for a transactional handler: Rowlock commits what it"
                            + " wrote together with the completion of its job; return to commit, throw to roll back");
        }
        if (method.getDeclaringClass() == Object.class && args != null) {
            return proxy == args[0]; // equals is the only such method with an argument
        }
        try {
            return method.invoke(connection, args);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
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
