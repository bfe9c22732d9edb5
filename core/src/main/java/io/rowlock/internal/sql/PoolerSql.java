package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Finds a pooler in transaction mode, which lends one session of the server to each transaction. Where it is busy, two
 * statements of one connection meet different server processes. Where it is idle it lends the same one every time, and
 * looks like a server: so a second connection opens a transaction and keeps it. It then has the very process that the
 * first has just used, which two connections to a server never share; and the first, asked again, gets another one. The
 * transaction is rolled back at once. Locks: none; no table is read.
 */
public final class PoolerSql {
    private static final String BACKEND = "/* rowlock:backend */ SELECT pg_backend_pid()";

    private PoolerSql() {}

    /** The server processes that answered: the first connection twice, the second, and the first once more. */
    public record Answers(int before, int again, int second, int during) {
        public boolean inTransactionMode() {
            return before != again || before != during || before == second;
        }
    }

    /** Over two connections, the first in autocommit. */
    public static Answers ask(Connection first, Connection second) throws SQLException {
        int before = backend(first);
        int again = backend(first);
        boolean autoCommit = second.getAutoCommit();
        second.setAutoCommit(false);
        try {
            int beside = backend(second);
            return new Answers(before, again, beside, backend(first));
        } finally {
            second.rollback();
            second.setAutoCommit(autoCommit);
        }
    }

    /** The process of the server that answers now. */
    public static int backend(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BACKEND);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }
}
