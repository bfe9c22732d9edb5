package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.DueSql.Look;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@PostgresTest
final class DueSqlIT {
    private static final List<Look> LANE = List.of(new Look("default", "task", 1, null, null));

    /** A look only reads, and would be content for ever with a server that was the primary. */
    @Test
    @Tag("B51")
    void look_over_a_session_that_takes_no_writes_fails_as_a_claim_does(TestSchema schema) throws SQLException {
        TestRowlock.fresh(schema);
        DueSql due = new DueSql(new Names(schema.name(), "rowlock_"));
        try (Connection connection = schema.connect();
                Statement statement = connection.createStatement()) {
            assertThat(due.any(connection, LANE).due()).isFalse();
            statement.execute("SET default_transaction_read_only = on");
            assertThatThrownBy(() -> due.any(connection, LANE))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            refused -> assertThat(SqlState.of(refused)).isEqualTo("25006"));
        }
    }
}
