package io.rowlock.internal.checkup;

import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.CheckupSql.Source;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * What to type so that sessions begin with another setting. Of the levels that can set one (server, all roles, database, role,
 * role in a database, the connection itself) each wins over those before, so a change below the one that set it does nothing.
 */
final class Levels {
    private static final String FOR_NEW = " -- for new connections";

    private final CheckupSql sql;

    Levels(CheckupSql sql) {
        this.sql = sql;
    }

    /** For this role, beginning with what lets the change itself be made: at the level that sets it where that is the role's, else at one that wins over it. */
    String set(Connection connection, String setting, String value, String note) throws SQLException {
        Source source = sql.source(connection, setting);
        String change = " SET " + setting + " = " + value + ';' + FOR_NEW + (note.isEmpty() ? "" : "; " + note);
        String first = setting.equals("default_transaction_read_only") ? "SET " + setting + " = off; " : "";
        String here = first + "ALTER ROLE " + source.role() + " IN DATABASE " + source.database() + change;
        return switch (source.level()) {
            case "client", "session", "environment variable" ->
                "Take " + setting
                        + " out of the options of the data source (options=-c in its URL, PGOPTIONS, or what the pool sends first"
                        + (note.isEmpty() ? ")." : "): " + note + ".");
            case "user" -> first + "ALTER ROLE " + source.role() + change;
            case "database user" -> here;
            case "database" ->
                here + "; the database sets it: ALTER DATABASE " + source.database() + " RESET " + setting
                        + " is for all roles";
            case "global" -> here + "; ALTER ROLE ALL has set it for all roles";
            default -> here + "; the server sets it (" + source.level() + ')';
        };
    }
}
