package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker shares a small pool with an application that takes all of it. */
@PostgresTest
@Tag("P10")
@Tag("B41")
@Timeout(180)
final class PoolIT {
    private static final int SIZE = 3;

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;
    private HikariDataSource pool;

    PoolIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
        HikariConfig config = new HikariConfig();
        config.setDataSource(schema.dataSource());
        config.setMaximumPoolSize(SIZE);
        config.setConnectionTimeout(500);
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
        pool.close();
    }

    @Test
    void worker_of_an_exhausted_pool_says_so_and_goes_on_when_it_is_free() throws Exception {
        AtomicBoolean applicationIsFirst = new AtomicBoolean(true);
        List<Connection> hogged = new ArrayList<>();
        Deeds handler = scene.deeds("worker");
        Worker starved = scene.start(
                scene.rowlock(
                        () -> {
                            if (applicationIsFirst.get()
                                    && !Thread.currentThread().getName().equals("main")) {
                                throw new SQLException("the application is first", "08001");
                            }
                            return pool.getConnection();
                        },
                        heard),
                settings -> settings.lease(Scene.LEASE).handle(Task.class, handler));
        hogged.addAll(hog(SIZE));
        applicationIsFirst.set(false);
        long job = scene.enqueue(Task.quick("a"));
        patiently()
                .until(() -> heard.of(LoopFailed.class).stream()
                        .anyMatch(failed -> failed.cause() instanceof SQLTransientConnectionException));
        assertThat(starved.health().up()).isFalse();
        assertThat(scene.starts("a")).isZero();

        release(hogged);
        scene.awaitState(job, "completed");
        patiently().until(() -> starved.health().up());
        assertThat(scene.number(job, "attempts")).isOne();
    }

    @Test
    void leases_live_on_and_outcomes_wait_while_the_application_holds_the_rest_of_the_pool() throws Exception {
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.waiting("long"));
        Worker worker = start(handler);
        scene.awaitStart("long", "worker");
        patiently().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 2);
        List<Connection> hogged = hog(1);
        patiently()
                .until(() -> schema.count(
                                "SELECT count(*) FROM rowlock_job j JOIN started s ON s.job_id = j.id WHERE j.id = ?"
                                        + " AND j.locked_until > s.at + interval '9 seconds'",
                                job)
                        == 1);
        handler.openAll();
        patiently()
                .until(() -> worker.health().loops().stream()
                        .anyMatch(loop -> loop.loop().equals("completer")));
        assertThat(worker.health().unrecorded()).isOne();
        release(hogged);
        scene.awaitState(job, "completed");
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.starts("long")).isOne();
        patiently().until(() -> worker.health().up());
    }

    @Test
    void pool_gets_back_every_connection_that_broke_or_was_given_up() throws Exception {
        Worker worker = start(scene.deeds("worker"));
        for (int i = 0; i < 4 * SIZE; i++) {
            long job = scene.enqueue(Task.quick("a"));
            scene.awaitState(job, "completed");
            endSessions();
        }
        worker.stop(Duration.ofSeconds(5));
        patiently().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        release(hog(SIZE));
    }

    private Worker start(Deeds handler) {
        return scene.start(
                scene.rowlock(pool::getConnection, heard),
                settings -> settings.lease(Scene.LEASE)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE)));
    }

    /** Ends every session: those of the pool, and that over which the handler notes what it does. */
    private void endSessions() throws SQLException {
        schema.count("""
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE application_name = ? AND pid <> pg_backend_pid()""", schema.name());
    }

    /** Takes connections as fast as they can be had, until it has so many. */
    private List<Connection> hog(int most) {
        List<Connection> hogged = new ArrayList<>();
        patiently().pollInterval(Duration.ofMillis(1)).ignoreExceptions().until(() -> {
            hogged.add(pool.getConnection());
            return hogged.size() >= most;
        });
        return hogged;
    }

    private static void release(List<Connection> hogged) throws SQLException {
        for (Connection connection : hogged) {
            connection.close();
        }
    }
}
