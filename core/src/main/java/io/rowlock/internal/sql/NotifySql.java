package io.rowlock.internal.sql;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;

/**
 * Wake-ups across processes. One channel per set of tables. LISTEN, UNLISTEN and pg_notify touch no table; what they
 * lock is said at each.
 */
public final class NotifySql {
    /*
     * Locks: at its commit the one lock of NOTIFY over the whole cluster ("database 0"), which all transactions that
     * notify take in turn, and keep until their commit is on disk. So this is a transaction of its own, on a connection
     * of the engine: it writes no row, so that its commit waits for no disk, and no business commit stands in that row.
     */
    static final String NOTIFY = "/* rowlock:notify */ SELECT pg_notify($1, $2)";

    /* Locks: none. Which server process answers, and whether that one listens: two answers that differ mean a pooler. */
    static final String SESSION = """
            /* rowlock:listening-session */
            SELECT pg_backend_pid() AS backend, $1 IN (SELECT pg_listening_channels()) AS listening
            """;

    /* Locks: none that anybody waits for. A channel is no parameter; its letters are checked, see channel(). */
    private static final String LISTEN = "/* rowlock:listen */ LISTEN \"%s\"";

    private static final String UNLISTEN = "/* rowlock:unlisten */ UNLISTEN \"%s\"";

    private static final int LONGEST_IDENTIFIER = 63;

    private final String channel;
    private final Sql notify;
    private final Sql session;

    public NotifySql(Names names) {
        this.channel = channel(names);
        this.notify = new Sql(names, NOTIFY);
        this.session = new Sql(names, SESSION);
    }

    /** Which server process a statement reached, and whether it listens. */
    public record Session(int backend, boolean listening) {}

    /**
     * The channel of the tables: schema, a dot, prefix and a word, as in {@code public.rowlock_wake}; where that is longer
     * than an identifier may be, a hash of it. Of lower-case letters, digits, underscores and a dot in either case.
     */
    public static String channel(Names names) {
        String name = names.schema() + '.' + names.prefix() + "wake";
        return name.length() <= LONGEST_IDENTIFIER ? name : "wake." + hash(name).substring(0, 40);
    }

    private static String hash(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    public String channel() {
        return channel;
    }

    /** Sends a text of less than 8,000 bytes to all that listen. */
    public void send(Connection connection, String text) throws SQLException {
        notify.query(connection, row -> true, channel, text);
    }

    /** From now on this session hears what is sent. */
    public void listen(Connection connection) throws SQLException {
        execute(connection, LISTEN);
    }

    /** From now on this session hears nothing any more. */
    public void unlisten(Connection connection) throws SQLException {
        execute(connection, UNLISTEN);
    }

    private void execute(Connection connection, String template) throws SQLException {
        try (var statement = connection.prepareStatement(template.formatted(channel))) {
            statement.execute();
        }
    }

    public Session session(Connection connection) throws SQLException {
        return session.query(
                        connection, row -> new Session(row.getInt("backend"), row.getBoolean("listening")), channel)
                .get(0);
    }
}
