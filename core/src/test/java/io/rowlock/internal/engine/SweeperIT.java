package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.engine.Sweeper.Found;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Step by step through lanes that are longer than a step. */
@PostgresTest
@Tag("P8")
final class SweeperIT {
    private static final int STEP = 5_000 / Priority.values().length;

    private TestSchema schema;
    private EngineConnection connection;
    private Lanes lanes;
    private Sweeper sweeper;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        this.schema = schema;
        TestRowlock.fresh(schema);
        EngineSql sql = EngineSql.of(new Names(schema.name(), "rowlock_"));
        connection = new EngineConnection(schema::connect, Duration.ofSeconds(30));
        lanes = new Lanes(Set.of("default"), List.of(FakeJobs.handler("mail", null)));
        Rescuer rescuer = new Rescuer(
                connection,
                sql,
                lanes,
                new Deaths(sql, lanes, new Events(List.of())),
                new Rescuer.Told(new Events(List.of()), id -> {}));
        sweeper = new Sweeper(connection, sql.sweeps(), lanes, rescuer);
    }

    @AfterEach
    void close() {
        connection.close();
    }

    @Test
    void short_pass_goes_on_behind_its_last_step_and_begins_anew_at_the_end() throws Exception {
        insert(STEP, "20 minutes", "interval '1 hour'");
        insert(1, "10 minutes", "interval '-1 second'");

        sweeper.walk();
        assertThat(losses()).as("behind the first step").isZero();
        sweeper.walk();
        assertThat(losses()).isEqualTo(1);

        insert(1, "30 minutes", "interval '-1 second'");
        sweeper.walk();
        assertThat(losses()).as("before all others").isEqualTo(2);
    }

    @Test
    @Tag("P2")
    void short_pass_finds_what_is_late_behind_its_first_step() throws Exception {
        raise(Duration.ZERO);
        insert(STEP, "20 minutes", "interval '1 hour'");
        insert(1, "10 minutes", null);

        assertThat(sweeper.walk()).isEmpty();
        assertThat(sweeper.walk()).hasSize(1).noneMatch(Found::suspect);
    }

    @Test
    @Tag("B37")
    void long_pass_rescues_behind_a_backlog_that_ends_the_short_one() throws Exception {
        insert(2 * STEP, "10 minutes", null);
        insert(1, "1 minute", "interval '-1 second'");
        raise(Duration.ofHours(1));

        for (int i = 0; i < 10; i++) {
            sweeper.walk();
        }
        assertThat(losses()).as("the short pass ends in the backlog").isZero();
        for (int i = 0; i < 3; i++) {
            sweeper.walkThrough();
        }
        assertThat(losses()).isEqualTo(1);
    }

    /** Watermarks of so long ago. */
    private void raise(Duration ago) {
        lanes.all().forEach(lane -> lanes.raise(lane, Instant.now().minus(ago)));
    }

    /** Jobs that have been due for so long, and are leased for so long from now. */
    private void insert(int jobs, String due, String lease) throws SQLException {
        schema.update(
                "INSERT INTO rowlock_job (kind, payload, run_at, attempts, token, locked_by, locked_until)"
                        + " SELECT 'mail', '{}', clock_timestamp() - ?::interval, 1, 1, "
                        + (lease == null ? "NULL, NULL" : "'gone', clock_timestamp() + " + lease)
                        + " FROM generate_series(1, ?)",
                due,
                jobs);
    }

    private long losses() throws SQLException {
        return schema.count("SELECT sum(losses) FROM rowlock_job");
    }
}
