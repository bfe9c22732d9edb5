package io.rowlock.fault;

import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Connections on which statements of a name are refused, or whose answers are kept back, and that count what was asked. A
 * statement's name is the one in its comment, without {@code rowlock:}.
 */
final class FaultyConnections implements ConnectionSource, AutoCloseable {
    private final TestSchema schema;
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final CountDownLatch keptBack = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);
    private volatile @Nullable String held;

    FaultyConnections(TestSchema schema) {
        this.schema = schema;
    }

    /** Refuses statements of these names, and no others, from now on. */
    void refuse(String... names) {
        refused.clear();
        refused.addAll(List.of(names));
    }

    /** Keeps back the answers of statements of this name, until {@link #letGo}. */
    void keepBack(String name) {
        held = name;
    }

    /** Waits until the first answer is kept back. */
    void awaitKeptBack() {
        Scene.patiently().until(() -> keptBack.getCount() == 0);
    }

    void letGo() {
        letGo.countDown();
    }

    /** How many statements of this name were asked for so far. */
    long asked(String name) {
        return asked.stream().filter(sql -> is(name, sql)).count();
    }

    @Override
    public Connection get() throws SQLException {
        Connection real = schema.connect();
        return proxy(Connection.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("prepareStatement")) {
                return call(real, method, arguments);
            }
            String sql = (String) arguments[0];
            asked.add(sql);
            if (refused.stream().anyMatch(name -> is(name, sql))) {
                throw new SQLException("refused by the test", "55000");
            }
            PreparedStatement statement = (PreparedStatement) call(real, method, arguments);
            String name = held;
            return name != null && is(name, sql) ? keepBack(statement) : statement;
        });
    }

    private PreparedStatement keepBack(PreparedStatement real) {
        return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
            Object answer = call(real, method, arguments);
            if (method.getName().startsWith("execute")) {
                keptBack.countDown();
                letGo.await();
            }
            return answer;
        });
    }

    private static boolean is(String name, String sql) {
        return sql.contains("/* rowlock:" + name + " */");
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object call(Object on, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public void close() {
        letGo();
    }
}
