package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.LeasedRows.ME;
import static io.rowlock.internal.sql.LeasedRows.OTHER;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.FoundRows;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sweep found may be another's, or elsewhere, by the time it is claimed by id. */
@PostgresTest
@Tag("P2")
final class ClaimSqlIT {
    private static final Claimant CLAIMANT = new Claimant(ME, Duration.ofMinutes(1));

    private TestSchema schema;
    private LeasedRows rows;
    private ClaimSql sql;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        this.schema = schema;
        rows = LeasedRows.fresh(schema);
        sql = new ClaimSql(rows.names());
    }

    @Test
    void found_job_that_has_an_owner_meanwhile_is_left_to_it() throws SQLException {
        long free = rows.waiting();
        long taken = rows.leased(OTHER, "1 minute");
        long expired = rows.leased(OTHER, "-1 minute");
        var before = rows.row(taken);

        assertThat(claim(List.of(free, taken, expired))).containsExactly(free);
        assertThat(rows.row(taken)).isEqualTo(before);
    }

    @Test
    void found_job_that_is_claimed_right_now_is_skipped_and_not_waited_for() throws SQLException {
        long locked = rows.waiting();
        long free = rows.waiting();
        try (Connection somebody = rows.lock(locked)) {
            assertThat(claim(List.of(locked, free))).containsExactly(free);
            somebody.rollback();
        }
        assertThat(claim(List.of(locked, free))).containsExactly(locked);
    }

    @Test
    void found_job_that_is_claimed_after_the_statement_has_seen_it_is_left_to_its_owner() throws SQLException {
        long taken = rows.waiting();

        Claimed claimed = rows.overtaken(
                "statement_timestamp() RETURNS timestamptz",
                "pg_catalog.statement_timestamp()",
                connection -> sql.claimFound(connection, CLAIMANT, found(List.of(taken))),
                "UPDATE rowlock_job SET locked_by = 'other', locked_until = now() + interval '1 minute', token = 1");

        assertThat(claimed.rows()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE locked_by = 'other' AND token = 1"))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @Tag("P12")
    @ValueSource(
            strings = {
                "queue = 'foreign'",
                "kind = 'foreign'",
                "losses = 1",
                "ordering_key = 'a'",
                "limit_key = 'a'",
                "state = 'cancelled', finished_at = clock_timestamp()",
                "run_at = clock_timestamp() + interval '1 hour'"
            })
    void found_job_that_changed_meanwhile_is_left_alone(String change) throws SQLException {
        long changed = rows.waiting();
        long free = rows.waiting();
        schema.update("UPDATE rowlock_job SET " + change + " WHERE id = ?", changed);
        var before = rows.row(changed);

        assertThat(claim(List.of(changed, free))).containsExactly(free);
        assertThat(rows.row(changed)).isEqualTo(before);
    }

    @Test
    void found_suspect_is_claimed_as_one() throws SQLException {
        long suspect = rows.waiting();
        schema.update("UPDATE rowlock_job SET losses = 1 WHERE id = ?", suspect);
        FoundRows found = new FoundRows(List.of(suspect), List.of(suspect), List.of("default"), List.of("mail"));
        try (Connection connection = rows.impatient()) {
            assertThat(sql.claimFound(connection, CLAIMANT, found).rows()).hasSize(1);
        }
    }

    private List<Long> claim(List<Long> ids) throws SQLException {
        try (Connection connection = rows.impatient()) {
            return sql.claimFound(connection, CLAIMANT, found(ids)).rows().stream()
                    .map(ClaimedRow::id)
                    .toList();
        }
    }

    private static FoundRows found(List<Long> ids) {
        return new FoundRows(ids, List.of(), List.of("default"), List.of("mail"));
    }
}
