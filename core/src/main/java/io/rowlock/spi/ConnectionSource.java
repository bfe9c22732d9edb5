package io.rowlock.spi;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Where the engine gets its connections: a {@link javax.sql.DataSource}'s {@code getConnection}, or a pool held apart
 * from the application's. Each is used by one thread at a time, in READ COMMITTED, and closed when done or aborted when
 * broken. Called by many threads at once.
 */
@FunctionalInterface
public interface ConnectionSource {
    /**
     * Opens or borrows a connection outside any transaction.
     *
     * @return an open connection
     * @throws SQLException if none can be had; the engine tries again later
     */
    Connection get() throws SQLException;
}
