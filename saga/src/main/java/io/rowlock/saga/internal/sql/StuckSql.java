package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Marks the saga of a driver that became a dead letter. */
public final class StuckSql {
    /*
     * In the transaction of the death, which has the driver's row locked: who locks sagas before drivers never waits for
     * drivers, so this may wait for a saga. Index: rowlock_saga_driver. Rows: at most one.
     */
    static final String STUCK = """
            /* rowlock:saga-stuck */
            UPDATE rowlock_saga
            SET status = 'stuck', reason = $2, driver = NULL, updated_at = clock_timestamp()
            WHERE driver = $1 AND finished_at IS NULL
            RETURNING id, coalesce(subject, business_key) AS about
            """;

    private final Sql stuck;

    public StuckSql(Names names) {
        this.stuck = new Sql(names, STUCK);
    }

    /** A saga that is stuck now, and by what people find what it says. */
    public record Stuck(String id, @Nullable String about) {}

    /** The saga, if it drove one. */
    public Optional<Stuck> stuck(Connection connection, long driver, String reason) throws SQLException {
        return stuck
                .query(connection, row -> new Stuck(row.getString("id"), row.getString("about")), driver, reason)
                .stream()
                .findFirst();
    }
}
