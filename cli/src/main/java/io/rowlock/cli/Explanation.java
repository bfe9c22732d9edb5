package io.rowlock.cli;

import io.rowlock.error.DatabaseException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What to look at, or to type, when the database cannot be reached or refuses a statement; by SQLSTATE, never by text. */
final class Explanation {
    private Explanation() {}

    static Optional<String> of(Throwable failure, Target target, Surroundings around) {
        UnknownHostException unknown = cause(failure, UnknownHostException.class);
        if (unknown != null) {
            return Optional.of("The host is not known here: " + unknown.getMessage() + ". Look at "
                    + whence(target, around) + ".");
        }
        if (cause(failure, SocketTimeoutException.class) != null) {
            return Optional.of("Nobody answers there, or not in time. Is a firewall in between? Where that is, says "
                    + whence(target, around) + ".");
        }
        DatabaseException refused = cause(failure, DatabaseException.class);
        return refused == null ? Optional.empty() : ofState(refused.sqlState(), target, around);
    }

    private static Optional<String> ofState(String state, Target target, Surroundings around) {
        if (state.startsWith("08")) {
            return Optional.of("Is the server up? Where it is, says " + whence(target, around) + ".");
        }
        if (state.startsWith("28")) {
            return Optional.of("The server refuses the login of " + target.role(around)
                    + ": look at --user or PGUSER, and at the password (--password-file, --ask-password,"
                    + " ROWLOCK_PASSWORD, PGPASSWORD, ~/.pgpass).");
        }
        return Optional.ofNullable(
                switch (state) {
                    case "3D000" -> "There is no such database. Its name says " + whence(target, around) + ".";
                    case "3F000", "42P01" ->
                        "Rowlock's tables are not there (" + target.tables()
                                + "). Are --schema and --prefix those of the application? "
                                + target.typed("schema install") + " makes the tables.";
                    case "42703", "42883" ->
                        "The tables are of another version: " + target.typed("schema validate") + " says what differs.";
                    case "42501" ->
                        "The role " + target.role(around) + " has not the right; " + target.typed("schema script")
                                + " ends with the grants.";
                    case "25006" ->
                        "This server is read-only, as a standby is: say the primary by " + whence(target, around) + ".";
                    case "53300" -> "The server has no free connection.";
                    case "55P03" -> "Somebody has locked what is to be changed; nothing was changed. Try it again.";
                    default -> null;
                });
    }

    private static String whence(Target target, Surroundings around) {
        return target.whence(around);
    }

    private static <T> @Nullable T cause(Throwable failure, Class<T> type) {
        Throwable each = failure;
        for (int i = 0; each != null && i < 20; i++) { // a circle is no reason to hang
            if (type.isInstance(each)) {
                return type.cast(each);
            }
            each = each.getCause();
        }
        return null;
    }
}
