package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.fault.Task.End;
import io.rowlock.spi.DeathHook;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The application's own code in the transaction of a death. */
@PostgresTest
@Tag("P10")
@Timeout(180)
final class DeathHookIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    DeathHookIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void what_the_hook_writes_commits_with_the_death_and_before_the_alert() throws Exception {
        long job = scene.enqueue(Task.quick("a").then(End.FAIL_FOR_GOOD));
        start(scene.rowlock(heard), DeathHookIT::note);
        scene.awaitState(job, "dead");
        assertOneTransaction(job, "failed for good as told");
    }

    @Test
    void hook_is_called_for_a_job_whose_worker_was_lost_too() throws Exception {
        long job = loseOne();
        start(scene.rowlock(heard), DeathHookIT::note);
        scene.awaitState(job, "dead");
        assertOneTransaction(job, "worker lost");
        patiently()
                .until(() ->
                        heard.of(JobDied.class).equals(List.of(new JobDied(job, "default", "task", 1, "worker lost"))));
    }

    /** What hooks do wrong. */
    enum Fault {
        EXCEPTION {
            @Override
            void happen(Connection connection) {
                throw new IllegalStateException("the hook refuses");
            }
        },
        ERROR {
            @Override
            void happen(Connection connection) {
                throw new NoClassDefFoundError("of the hook");
            }
        },
        SQL_ERROR {
            @Override
            void happen(Connection connection) throws SQLException {
                run(connection, "SELECT 1 / 0");
            }
        },
        SWALLOWED_SQL_ERROR {
            @Override
            void happen(Connection connection) {
                try {
                    run(connection, "SELECT 1 / 0");
                } catch (SQLException swallowed) {
                    assertThat(swallowed.getSQLState()).isEqualTo("22012");
                }
            }
        },
        VIOLATED_CONSTRAINT {
            @Override
            void happen(Connection connection) throws SQLException {
                run(connection, "UPDATE rowlock_alert SET n = NULL; INSERT INTO rowlock_alert (n) VALUES (NULL)");
            }
        },
        SWALLOWED_LOSS_OF_THE_CONNECTION {
            @Override
            void happen(Connection connection) {
                try {
                    run(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
                } catch (SQLException swallowed) {
                    assertThat(swallowed.getSQLState()).startsWith("57P");
                }
            }
        },
        UNSPEAKABLE_ERROR {
            @Override
            void happen(Connection connection) {
                throw new Unspeakable();
            }
        };

        /** Not even its message can be had. */
        private static final class Unspeakable extends Error {
            @Override
            public String getMessage() {
                throw new Unspeakable();
            }
        }

        abstract void happen(Connection connection) throws SQLException;
    }

    @ParameterizedTest
    @EnumSource
    void failing_hook_keeps_its_job_alive_and_everything_else_going(Fault fault) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (HikariDataSource pool = pool()) {
            long job = scene.enqueue(Task.quick("a").then(End.FAIL_FOR_GOOD));
            Worker worker = start(scene.rowlock(pool::getConnection, heard), (connection, dying) -> {
                note(connection, dying);
                calls.incrementAndGet();
                fault.happen(connection);
            });
            patiently().until(() -> scene.count("id = " + job + " AND locked_by IS NULL AND attempts = 1") == 1);
            assertThat(scene.count("id = " + job + " AND state = 'ready' AND run_at > clock_timestamp() + interval"
                            + " '50 minutes'"))
                    .isOne();
            assertThat(scene.failures(job)).hasSize(1);
            assertThat(schema.count("SELECT count(*) FROM effect")).isZero();
            for (int i = 0; i < 10; i++) {
                long other = scene.enqueue(Task.quick("other").then(End.FAIL_FOR_GOOD));
                patiently().until(() -> scene.failures(other).size() == 1);
            }
            long healthy = scene.enqueue(Task.quick("healthy"));
            scene.awaitState(healthy, "completed");
            assertThat(calls).hasValue(11);
            assertThat(scene.alerts()).isZero();
            patiently().until(() -> worker.health().up());
            worker.stop(Duration.ofSeconds(5));
        }
    }

    @ParameterizedTest
    @EnumSource
    void failing_hook_of_a_lost_job_stops_no_sweep_and_the_job_dies_once_it_works(Fault fault) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean healed = new AtomicBoolean();
        try (HikariDataSource pool = pool()) {
            long lost = loseOne();
            long lostToo = loseOne();
            Worker worker = start(scene.rowlock(pool::getConnection, heard), (connection, dying) -> {
                note(connection, dying);
                calls.incrementAndGet();
                if (!healed.get()) {
                    fault.happen(connection);
                }
            });
            patiently().until(() -> calls.get() > 6);
            assertThat(scene.count("state = 'ready' AND id IN (" + lost + "," + lostToo + ")"))
                    .isEqualTo(2);
            long healthy = scene.enqueue(Task.quick("healthy"));
            scene.awaitState(healthy, "completed");
            assertThat(schema.count("SELECT count(*) FROM effect")).isZero();
            healed.set(true);
            scene.awaitState(lost, "dead");
            scene.awaitState(lostToo, "dead");
            assertThat(schema.list(Long.class, "SELECT job_id FROM effect ORDER BY 1"))
                    .containsExactly(lost, lostToo);
            assertThat(scene.alerts()).isEqualTo(2);
            worker.stop(Duration.ofSeconds(5));
        }
    }

    private Worker start(Rowlock rowlock, DeathHook hook) {
        Deeds handler = scene.deeds("worker");
        return scene.start(
                rowlock,
                worker -> worker.lease(Scene.LEASE)
                        .handle(
                                Task.class,
                                handler,
                                options -> options.retry(Scene.AT_ONCE).onDeath(hook)));
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(schema.dataSource());
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(1_000);
        return new HikariDataSource(config);
    }

    /** A job that has used its only attempt under an owner that is gone. */
    private long loseOne() throws SQLException {
        long job = scene.enqueue(Task.quick("lost"), options -> options.maxAttempts(1));
        schema.update(
                "UPDATE rowlock_job SET locked_by = 'gone', token = 1, attempts = 1, locked_until ="
                        + " clock_timestamp() WHERE id = ?",
                job);
        return job;
    }

    private static void note(Connection connection, DeathHook.DyingJob dying) throws SQLException {
        long alerts;
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT coalesce(sum(n), 0) FROM rowlock_alert" + " WHERE job_id = " + dying.id())) {
            rows.next();
            alerts = rows.getLong(1);
        }
        run(
                connection,
                "INSERT INTO effect (job_id, name, attempt, who) VALUES (" + dying.id() + ", '" + dying.reason() + "', "
                        + dying.attempts() + ", 'hook, after " + alerts + " alerts')");
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** A row carries the transaction that wrote it. */
    private void assertOneTransaction(long job, String reason) throws SQLException {
        assertThat(schema.rows("SELECT name, attempt, who FROM effect WHERE job_id = ?", job))
                .singleElement()
                .satisfies(row -> assertThat(row.values()).containsExactly(reason, 1, "hook, after 0 alerts"));
        assertThat(schema.count("""
                SELECT count(DISTINCT x) FROM (SELECT xmin::text AS x FROM rowlock_job WHERE id = ?
                  UNION ALL SELECT xmin::text FROM effect UNION ALL SELECT xmin::text FROM rowlock_alert
                  UNION ALL SELECT xmin::text FROM rowlock_job_failure) AS written""", job)).isOne();
        assertThat(scene.alerts()).isOne();
    }
}
