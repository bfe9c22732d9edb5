package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each SQLSTATE means to the engine, its transactions and those of the application. */
@Tag("P10")
@Tag("B51")
final class SqlStateTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                // the connection
                "none  | lost, cured, unknown",
                "''    | lost, cured, unknown",
                "08000 | lost, cured, repeatable, unknown",
                "08001 | lost, cured, repeatable, unknown",
                "08003 | lost, cured, repeatable, unknown",
                "08006 | lost, cured, repeatable, unknown",
                "08P01 | lost, cured, repeatable, unknown",
                // the server
                "57P01 | lost, cured, repeatable, unknown", // shut down by an administrator
                "57P02 | lost, cured, repeatable, unknown", // crashed
                "57P03 | lost, cured, repeatable, unknown", // starting
                "57P05 | lost, cured, repeatable, unknown", // session idle for too long
                "25P03 | lost, cured, repeatable, unknown", // transaction idle for too long
                "25006 | lost, cured, repeatable, unknown", // takes no writes
                "53300 | lost, cured, repeatable, unknown", // no connection left
                // for the sake of others
                "40001 | cured, repeatable, rolled back",
                "40P01 | cured, repeatable, rolled back",
                "40003 | cured, unknown",
                // limits of time and room
                "57014 | cured", // statement timeout
                "55P03 | cured", // lock timeout
                "53100 | cured", // disk full
                "53200 | cured",
                "58030 | cured", // I/O
                // the values
                "22003 | refuses",
                "22P02 | refuses",
                "23503 | refuses",
                "23505 | refuses",
                "23514 | refuses",
                "P0001 | refuses", // raised by a trigger
                "44000 | refuses",
                // what only a person mends
                "25P02 | ''",
                "28P01 | cured outside",
                "3D000 | ''",
                "3F000 | ''",
                "42501 | cured outside", // rights
                "42601 | ''",
                "42P01 | ''",
                "XX000 | ''"
            })
    void each_has_its_meaning(String state, String meaning) {
        SQLException error = new SQLException("", state);
        Set<String> found = new LinkedHashSet<>();
        note(found, "lost", SqlState.connectionLost(error));
        note(found, "cured", SqlState.curedByTime(error));
        note(found, "cured outside", SqlState.curedOutside(error) && !SqlState.curedByTime(error));
        note(found, "repeatable", SqlState.repeatable(error));
        note(found, "rolled back", SqlState.rolledBack(error));
        note(found, "unknown", SqlState.commitUnknown(error));
        note(found, "refuses", SqlState.refusesData(error));

        assertThat(String.join(", ", found)).isEqualTo(meaning);
    }

    @Test
    void what_the_database_said_is_found_behind_what_was_thrown() {
        SQLException error = new SQLException("", "40001");
        Exception loop = new IllegalStateException(new IllegalArgumentException());
        loop.getCause().initCause(loop);

        assertThat(SqlState.causeOf(new IllegalStateException(new RuntimeException(error))))
                .containsSame(error);
        assertThat(SqlState.causeOf(error)).containsSame(error);
        assertThat(SqlState.causeOf(new IllegalStateException())).isEmpty();
        assertThat(SqlState.causeOf(loop)).isEmpty();
    }

    @Test
    void what_time_does_not_cure_is_found_behind_what_a_pool_says() {
        SQLException login = new SQLException("", "28P01");
        SQLException pool = new SQLException("no connection in time", null, login);

        SQLException network = new SQLException("", "08001");

        assertThat(SqlState.stated(pool) == login).isTrue();
        assertThat(SqlState.stated(network) == network).isTrue();
    }

    private static void note(Set<String> found, String meaning, boolean holds) {
        if (holds) {
            found.add(meaning);
        }
    }
}
