package io.rowlock.wake;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.NotifySql;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Hears what is sent on the channel of a test's tables, and sends what no process of Rowlock would. */
final class Witness implements AutoCloseable {
    private static final int SOON = 30_000;

    private final Connection connection;
    private final String channel;
    private final Deque<String> heard = new ArrayDeque<>();

    Witness(TestSchema schema) throws SQLException {
        this.connection = schema.connect();
        this.channel = NotifySql.channel(new Names(schema.name(), "rowlock_"));
        try (var listen = connection.createStatement()) {
            listen.execute("LISTEN \"" + channel + '"');
        }
    }

    /** The next text; waits for it. */
    String next() throws SQLException {
        while (heard.isEmpty()) {
            PGNotification[] some = connection.unwrap(PGConnection.class).getNotifications(SOON);
            if (some == null || some.length == 0) {
                throw new AssertionError("Nothing was sent on " + channel);
            }
            for (PGNotification each : some) {
                heard.add(each.getParameter());
            }
        }
        return heard.remove();
    }

    /** How many texts come before one that contains these words. */
    int countUntil(String words) throws SQLException {
        int count = 0;
        while (!next().contains(words)) {
            count++;
        }
        return count;
    }

    void say(String text) throws SQLException {
        try (var notify = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
            notify.setString(1, channel);
            notify.setString(2, text);
            notify.execute();
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
