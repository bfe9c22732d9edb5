package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.LeasedRows.ME;
import static io.rowlock.internal.sql.LeasedRows.OTHER;
import static io.rowlock.internal.sql.LeasedRows.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.OutcomeSql.Burial;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.internal.sql.OutcomeSql.PutBack;
import io.rowlock.internal.sql.OutcomeSql.Retry;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Owner and token fence every statement that writes an outcome, each of the two by itself. */
@PostgresTest
@Tag("P3")
@Tag("B02")
final class OutcomeSqlIT {
    private static final String LIVE = "1 minute";
    private static final Failure FAILURE = new Failure("c", "m", "s");

    private LeasedRows rows;
    private OutcomeSql sql;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        rows = LeasedRows.fresh(schema);
        sql = new OutcomeSql(rows.names());
    }

    /** The statements, each as one that gives the ids it wrote. */
    enum Write {
        COMPLETE {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.complete(connection, ME, grips, false);
            }
        },
        COMPLETE_AND_DELETE {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.complete(connection, ME, grips, true);
            }
        },
        RETRY {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.retry(
                        connection,
                        ME,
                        grips.stream()
                                .map(grip -> new Retry(grip, Duration.ZERO, false, FAILURE))
                                .toList());
            }
        },
        BURY {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.bury(
                        connection,
                        ME,
                        grips.stream().map(grip -> new Burial(grip, FAILURE)).toList());
            }
        },
        PUT_BACK {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.putBack(
                        connection,
                        ME,
                        grips.stream()
                                .map(grip -> new PutBack(grip, Duration.ZERO))
                                .toList());
            }
        },
        HEARTBEAT {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.heartbeat(connection, ME, grips, Duration.ofHours(1));
            }
        },
        STILL_HELD {
            @Override
            Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException {
                return sql.stillHeld(connection, ME, grips);
            }
        };

        abstract Set<Long> write(OutcomeSql sql, Connection connection, List<Grip> grips) throws SQLException;
    }

    @ParameterizedTest
    @EnumSource
    void older_token_of_the_same_owner_counts_for_nothing(Write write) throws SQLException {
        long held = rows.leased(ME, LIVE);
        long claimedAgain = rows.leased(ME, LIVE);
        var before = rows.row(claimedAgain);

        assertThat(write(write, new Grip(held, TOKEN), new Grip(claimedAgain, TOKEN - 1)))
                .containsExactly(held);
        assertThat(rows.row(claimedAgain)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource
    void job_of_another_owner_is_left_as_it_is_even_under_the_same_token(Write write) throws SQLException {
        long held = rows.leased(ME, LIVE);
        long others = rows.leased(OTHER, LIVE);
        var before = rows.row(others);

        assertThat(write(write, new Grip(others, TOKEN), new Grip(held, TOKEN))).containsExactly(held);
        assertThat(rows.row(others)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "STILL_HELD")
    void locked_row_is_skipped_and_not_waited_for(Write write) throws SQLException {
        long held = rows.leased(ME, LIVE);
        long locked = rows.leased(ME, LIVE);
        var before = rows.row(locked);

        try (Connection somebody = rows.lock(locked)) {
            assertThat(write(write, new Grip(locked, TOKEN), new Grip(held, TOKEN)))
                    .containsExactly(held);
            somebody.rollback();
        }
        assertThat(rows.row(locked)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "STILL_HELD")
    void job_taken_after_the_statement_has_seen_it_is_left_to_its_new_owner(Write write) throws SQLException {
        long taken = rows.leased(ME, LIVE);

        Set<Long> written = rows.overtakenComparingTexts(
                connection -> write.write(sql, connection, List.of(new Grip(taken, TOKEN))),
                "UPDATE rowlock_job SET token = token + 1");

        assertThat(written).isEmpty();
        assertThat(rows.row(taken))
                .hasSize(1)
                .allSatisfy(row -> assertThat(row.get("row"))
                        .asString()
                        .startsWith("(" + taken + "," + (TOKEN + 1) + ",")
                        .contains(",ready,")
                        .contains("," + ME + ","));
    }

    private Set<Long> write(Write write, Grip... grips) throws SQLException {
        try (Connection connection = rows.impatient()) {
            return write.write(sql, connection, List.of(grips));
        }
    }
}
