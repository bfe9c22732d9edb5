package io.rowlock.testkit.cost;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * The least of a pool: a connection that is closed is kept and given out again, last in first out, and nothing is sent for that.
 * So no round trip is its own, and statements are prepared once, as in an application that has run for a while.
 */
final class KeptConnections implements DataSource, AutoCloseable {
    private final DataSource source;
    private final List<Connection> all = new ArrayList<>();
    private final Deque<Connection> idle = new ArrayDeque<>();

    KeptConnections(DataSource source) {
        this.source = source;
    }

    @Override
    public synchronized Connection getConnection() throws SQLException {
        Connection kept = idle.poll();
        if (kept == null) {
            kept = source.getConnection();
            all.add(kept);
        }
        return lent(kept);
    }

    private Connection lent(Connection kept) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, args) -> {
                    if (method.getName().equals("close")) {
                        takeBack(kept);
                        return null;
                    }
                    if (method.getName().equals("equals")) {
                        return self == args[0];
                    }
                    try {
                        return method.invoke(kept, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private synchronized void takeBack(Connection kept) throws SQLException {
        if (!kept.isClosed() && !idle.contains(kept)) {
            if (!kept.getAutoCommit()) {
                kept.rollback();
                kept.setAutoCommit(true);
            }
            idle.push(kept);
        }
    }

    /** Has each session report what it counted, which the server else does about once a second. */
    synchronized void report() throws SQLException {
        for (Connection kept : all) {
            if (!kept.isClosed()) {
                try (Statement statement = kept.createStatement()) {
                    statement.execute("SELECT pg_stat_force_next_flush()");
                }
            }
        }
    }

    @Override
    public synchronized void close() throws SQLException {
        for (Connection kept : all) {
            kept.close();
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("All connections are of one user");
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return source.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        source.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        source.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return source.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return source.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return source.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return source.isWrapperFor(type);
    }
}
