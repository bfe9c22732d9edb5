package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.LeasedRows.ME;
import static io.rowlock.internal.sql.LeasedRows.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.internal.sql.SweepSql.Rescued;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rescue believes what it sees under the lock, and not what a walk has seen before. */
@PostgresTest
@Tag("P8")
final class SweepSqlIT {
    private static final String OVER = "-1 second";

    private TestSchema schema;
    private LeasedRows rows;
    private SweepSql sql;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        this.schema = schema;
        rows = LeasedRows.fresh(schema);
        sql = new SweepSql(rows.names());
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 2})
    @Tag("P3")
    void rescue_takes_the_lease_and_raises_the_token(int maxAttempts) throws SQLException {
        long lost = rows.leased(ME, OVER);

        assertThat(rescue(maxAttempts, lost))
                .containsExactly(new Rescued(lost, "default", "mail", 2, maxAttempts == 2, ME, false));
        assertThat(schema.count(
                        "SELECT token FROM rowlock_job WHERE locked_by IS NULL AND losses = 1 AND state = ?",
                        maxAttempts == 2 ? "dead" : "ready"))
                .isEqualTo(TOKEN + 1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure WHERE attempt = 2 AND worker = 'me'"))
                .isEqualTo(1);
    }

    @Test
    @Tag("P3")
    void owner_that_takes_its_lost_job_again_cannot_end_it_under_the_old_lease() throws SQLException {
        long lost = rows.leased(ME, OVER);
        rescue(3, lost);
        schema.update(
                "UPDATE rowlock_job SET locked_by = 'me', locked_until = clock_timestamp() + interval '1 minute'");
        try (Connection connection = rows.impatient()) {
            assertThat(new OutcomeSql(rows.names()).complete(connection, ME, List.of(new Grip(lost, TOKEN)), false))
                    .isEmpty();
        }
    }

    @Test
    void lease_that_was_extended_since_it_was_seen_expired_is_left_alone() throws SQLException {
        long extended = rows.leased(ME, "1 minute");
        long lost = rows.leased(ME, OVER);
        var before = rows.row(extended);

        assertThat(rescue(3, extended, lost)).extracting(Rescued::id).containsExactly(lost);
        assertThat(rows.row(extended)).isEqualTo(before);
    }

    @Test
    void lease_that_is_extended_after_the_statement_has_seen_it_expired_is_left_alone() throws SQLException {
        long extended = rows.leased(ME, OVER);

        List<Rescued> rescued = rows.overtaken(
                "clock_timestamp() RETURNS timestamptz",
                "pg_catalog.clock_timestamp()",
                connection -> sql.rescue(connection, List.of(extended), Map.of("mail", 3)),
                "UPDATE rowlock_job SET locked_until = now() + interval '1 minute'");

        assertThat(rescued).isEmpty();
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE locked_by = 'me' AND losses = 0 AND token = ?", TOKEN))
                .isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    void locked_row_is_skipped_and_not_waited_for() throws SQLException {
        long locked = rows.leased(ME, OVER);
        long lost = rows.leased(ME, OVER);
        try (Connection somebody = rows.lock(locked)) {
            assertThat(rescue(3, locked, lost)).extracting(Rescued::id).containsExactly(lost);
            somebody.rollback();
        }
        assertThat(rescue(3, locked, lost)).extracting(Rescued::id).containsExactly(locked);
    }

    private List<Rescued> rescue(int maxAttempts, Long... ids) throws SQLException {
        try (Connection connection = rows.impatient()) {
            return sql.rescue(connection, List.of(ids), Map.of("mail", maxAttempts));
        }
    }
}
