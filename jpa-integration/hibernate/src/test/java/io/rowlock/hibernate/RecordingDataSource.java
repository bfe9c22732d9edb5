package io.rowlock.hibernate;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** A data source that notes the text of every statement its connections prepare. */
final class RecordingDataSource {
    private static final int MAX_NOTED = 1_000;

    private final AtomicLong count = new AtomicLong();
    private final List<String> statements = new CopyOnWriteArrayList<>();

    DataSource of(DataSource source) {
        return proxy(DataSource.class, source);
    }

    private <T> T proxy(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (method.getName().startsWith("prepare") && args != null && args[0] instanceof String sql) {
                if (count.incrementAndGet() <= MAX_NOTED) {
                    statements.add(sql);
                }
            }
            try {
                Object answer = method.invoke(target, args);
                return answer instanceof Connection connection && type == DataSource.class
                        ? proxy(Connection.class, connection)
                        : answer;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    /** Those that contain a text, since the last {@link #clear()}. */
    List<String> containing(String text) {
        return statements.stream().filter(each -> each.contains(text)).toList();
    }

    /** How many statements were prepared since the last {@link #clear()}, those beyond the noted ones too. */
    long count() {
        return count.get();
    }

    void clear() {
        statements.clear();
        count.set(0);
    }
}
