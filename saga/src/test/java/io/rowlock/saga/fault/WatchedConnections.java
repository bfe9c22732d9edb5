package io.rowlock.saga.fault;

import io.rowlock.spi.ConnectionSource;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Connections that tell which statements they are asked for, and which ones a commit is of: by the names in their comments. */
final class WatchedConnections implements ConnectionSource {
    /** The statement that every record of a saga has. */
    static final String RECORD = "record-sagas";

    private static final Pattern NAME = Pattern.compile("/\\* rowlock:([a-z-]+) \\*/");

    private final ConnectionSource source;
    private final Watch watch;

    /** Is told, on the thread that asks; what it throws, or how long it takes, happens to that one. */
    interface Watch {
        default void asked(String statement) throws Exception {}

        default void beforeCommit(Set<String> statements) throws Exception {}

        default void afterCommit(Set<String> statements) throws Exception {}
    }

    WatchedConnections(ConnectionSource source, Watch watch) {
        this.source = source;
        this.watch = watch;
    }

    @Override
    public Connection get() throws SQLException {
        Connection real = source.get();
        Set<String> statements = ConcurrentHashMap.newKeySet();
        InvocationHandler handler = (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "prepareStatement" -> {
                    Matcher name = NAME.matcher((String) arguments[0]);
                    if (name.find()) {
                        statements.add(name.group(1));
                        watch.asked(name.group(1));
                    }
                    return call(real, method, arguments);
                }
                case "rollback", "setAutoCommit" -> {
                    statements.clear();
                    return call(real, method, arguments);
                }
                case "commit" -> {
                    Set<String> committed = Set.copyOf(statements);
                    watch.beforeCommit(committed);
                    Object nothing = call(real, method, arguments);
                    statements.clear();
                    watch.afterCommit(committed);
                    return nothing;
                }
                default -> {
                    return call(real, method, arguments);
                }
            }
        };
        return (Connection)
                Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class}, handler);
    }

    private static Object call(Object on, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
