package io.rowlock.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.SqlState;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What the server said to a worker that starts and cannot: whether time may cure it, and what to do where it cannot. */
final class StartRefusal {
    private StartRefusal() {}

    /** The exception to throw; null if the server is only out of reach, starting, or full, so that waiting may help. */
    static @Nullable DatabaseException lasting(SQLException error) {
        SQLException refusal = SqlState.stated(error);
        return SqlState.curedByTime(refusal)
                ? null
                : new DatabaseException(
                        "The worker cannot start, and waiting would not help: " + advice(refusal), refusal);
    }

    private static String advice(SQLException refusal) {
        String state = SqlState.of(refusal);
        if (state.startsWith("28")) {
            return "the server refuses the login; check user and password of the data source and the server's pg_hba.conf";
        }
        return switch (state) {
            case "3D000" -> "the database does not exist; check the URL of the data source";
            case "42501" -> "the role lacks a right; run the grants at the end of schema().script(0) for it";
            default -> "the server refuses what a worker asks first (SQLSTATE " + state + ")";
        };
    }
}
