package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.LeasedRows.ME;
import static io.rowlock.internal.sql.LeasedRows.OTHER;
import static io.rowlock.internal.sql.LeasedRows.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.OneJobSql.Holder;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;

/** What a handler's own transaction writes is fenced by owner, token and lease, each by itself. */
@PostgresTest
@Tag("P3")
@Tag("P4")
final class OneJobSqlIT {
    private static final String LIVE = "1 minute";
    private static final String OVER = "-1 second";
    private static final Duration SOON = Duration.ofSeconds(60);

    private LeasedRows rows;
    private OneJobSql sql;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        rows = LeasedRows.fresh(schema);
        sql = new OneJobSql(rows.names());
    }

    /** The statements, each as one that tells whether the job was held. */
    enum Write {
        COMPLETE {
            @Override
            boolean write(OneJobSql sql, Connection connection, Grip grip, boolean locked) throws SQLException {
                return sql.complete(connection, ME, grip, by(sql, connection, locked), false);
            }
        },
        DELETE {
            @Override
            boolean write(OneJobSql sql, Connection connection, Grip grip, boolean locked) throws SQLException {
                return sql.complete(connection, ME, grip, by(sql, connection, locked), true);
            }
        },
        PUT_BACK {
            @Override
            boolean write(OneJobSql sql, Connection connection, Grip grip, boolean locked) throws SQLException {
                return sql.putBack(connection, ME, grip, by(sql, connection, locked), Duration.ZERO);
            }
        },
        LOCK {
            @Override
            boolean write(OneJobSql sql, Connection connection, Grip grip, boolean locked) throws SQLException {
                return sql.lock(connection, ME, grip) != null;
            }
        };

        abstract boolean write(OneJobSql sql, Connection connection, Grip grip, boolean locked) throws SQLException;

        private static String by(OneJobSql sql, Connection connection, boolean locked) throws SQLException {
            return locked ? sql.transaction(connection) : null;
        }
    }

    @ParameterizedTest
    @EnumSource
    void job_that_is_held_is_written(Write write) throws SQLException {
        assertThat(write(write, rows.leased(ME, LIVE), TOKEN, false)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void older_token_of_the_same_owner_counts_for_nothing(Write write) throws SQLException {
        assertRefused(write, rows.leased(ME, LIVE), TOKEN - 1, false);
        assertRefused(write, rows.leased(ME, LIVE), TOKEN - 1, true);
    }

    @ParameterizedTest
    @EnumSource
    void job_of_another_owner_is_left_as_it_is_even_under_the_same_token(Write write) throws SQLException {
        assertRefused(write, rows.leased(OTHER, LIVE), TOKEN, false);
        assertRefused(write, rows.leased(OTHER, LIVE), TOKEN, true);
    }

    @ParameterizedTest
    @EnumSource
    void lease_that_is_over_counts_for_nothing(Write write) throws SQLException {
        assertRefused(write, rows.leased(ME, OVER), TOKEN, false);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LOCK")
    void job_that_was_locked_in_time_is_written_though_its_lease_is_over(Write write) throws SQLException {
        assertThat(write(write, rows.leased(ME, OVER), TOKEN, true)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void locked_job_blocks_no_handler(Write write) throws SQLException {
        long id = rows.leased(ME, LIVE);
        try (Connection somebody = rows.lock(id)) {
            assertThat(write(write, id, TOKEN, false)).isFalse();
            somebody.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void locked_failure_blocks_no_handler(Write write) throws SQLException {
        long id = rows.leased(ME, LIVE);
        try (Connection somebody = rows.impatient()) {
            somebody.setAutoCommit(false);
            somebody.createStatement()
                    .execute("INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                            + " VALUES (" + id + ", 1, 'w', 'c', 'm', '')");
            somebody.commit();
            somebody.createStatement().execute("SELECT 1 FROM rowlock_job_failure FOR UPDATE");
            assertThat(write(write, id, TOKEN, false)).isTrue();
            somebody.rollback();
        }
    }

    private void assertRefused(Write write, long id, long token, boolean locked) throws SQLException {
        var before = rows.row(id);
        assertThat(write(write, id, token, locked)).isFalse();
        assertThat(rows.row(id)).isEqualTo(before);
    }

    private boolean write(Write write, long id, long token, boolean locked) throws SQLException {
        try (Connection connection = rows.impatient()) {
            connection.setAutoCommit(false);
            boolean written = write.write(sql, connection, new Grip(id, token), locked);
            connection.commit();
            return written;
        }
    }

    @Test
    void transaction_is_known_until_its_server_has_crashed() throws SQLException {
        try (OwnPostgres server = TestPostgres.embedded(PostgresOptions::durable)) {
            TestSchema schema = TestSchema.create(server, "crashed");
            LeasedRows leased = LeasedRows.fresh(schema);
            OneJobSql there = new OneJobSql(leased.names());
            Holder holder = committed(schema, there, leased.leased(ME, LIVE));
            try (Connection connection = schema.connect()) {
                assertThat(there.committed(connection, holder)).isTrue();
                assertThat(killed(connection)).isTrue();
            }
            // all other backends end with that one, and the server recovers under the same postmaster
            Awaitility.await().ignoreExceptions().atMost(SOON).until(() -> schema.count("SELECT count(*)") == 1);
            try (Connection connection = schema.connect()) {
                assertThat(there.committed(connection, holder)).isFalse();
            }
        }
    }

    private static Holder committed(TestSchema schema, OneJobSql there, long id) throws SQLException {
        try (Connection connection = schema.begin()) {
            Holder holder = there.lock(connection, ME, new Grip(id, TOKEN));
            connection.commit();
            return holder;
        }
    }

    private static boolean killed(Connection connection) throws SQLException {
        int backend = connection.unwrap(PGConnection.class).getBackendPID();
        return ProcessHandle.of(backend).orElseThrow().destroyForcibly();
    }
}
