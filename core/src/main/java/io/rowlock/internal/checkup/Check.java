package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** One subject of a checkup. */
interface Check {
    /** What is looked at, as in: The check of ... could not be made. */
    String subject();

    /** What to type where a right is missing. */
    String right();

    /** Looks, over a connection in a read-only transaction with bounded statements. */
    List<Finding> look(Connection connection) throws SQLException;
}
