package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.error.DatabaseException;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth.State;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database cannot be reached when a worker is started. */
@PostgresTest
@Tag("P10")
@Timeout(180)
final class UnreachableAtStartIT {
    private final TestSchema schema;
    private final ExecutorService starter = Executors.newSingleThreadExecutor();
    private Scene scene;
    private TcpProxy proxy;

    UnreachableAtStartIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
        proxy = TcpProxy.to(schema.server());
        proxy.refuse();
    }

    @AfterEach
    void end() throws SQLException {
        starter.shutdownNow();
        scene.close();
        proxy.close();
    }

    @Test
    void start_waits_for_the_database_and_goes_on_when_it_comes() throws Exception {
        long job = scene.enqueue(Task.quick("a"));
        Worker worker = worker();
        assertThat(worker.health().state()).isEqualTo(State.NEW);
        Future<?> start = startAndAwaitRefusal(worker);
        assertThat(worker.health().up()).isFalse();
        proxy.accept();
        scene.awaitState(job, "completed");
        start.get();
        assertThat(worker.health().state()).isEqualTo(State.RUNNING);
        patiently().until(() -> worker.health().up());
    }

    @Test
    void start_waits_for_a_pool_that_cannot_be_filled_yet() throws Exception {
        long job = scene.enqueue(Task.quick("a"));
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(proxy.dataSource(schema));
            pool.setConnectionTimeout(500);
            Deeds handler = scene.deeds("worker");
            Worker worker = scene.worker(
                    scene.rowlock(pool::getConnection),
                    settings -> settings.lease(Scene.LEASE).handle(Task.class, handler));
            Future<?> start = startAndAwaitRefusal(worker);
            proxy.accept();
            scene.awaitState(job, "completed");
            start.get();
            worker.stop(Duration.ofSeconds(5));
        }
    }

    @Test
    void stop_ends_the_wait() {
        Worker worker = worker();
        Future<?> start = startAndAwaitRefusal(worker);
        worker.stop(Duration.ofMinutes(1));
        patiently().until(start::isDone);
        assertThat(start).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(DatabaseException.class);
        assertThat(worker.health().state()).isEqualTo(State.STOPPED);
    }

    @Test
    void interrupt_ends_the_wait() {
        Worker worker = worker();
        Future<?> start = startAndAwaitRefusal(worker);
        starter.shutdownNow();
        patiently().until(starter::isTerminated);
        assertThat(start).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(DatabaseException.class);
        assertThat(worker.health().state()).isEqualTo(State.STOPPED);
    }

    private Worker worker() {
        Deeds handler = scene.deeds("worker");
        return scene.worker(
                scene.rowlock(proxy.dataSource(schema)::getConnection),
                settings -> settings.lease(Scene.LEASE).handle(Task.class, handler));
    }

    private Future<?> startAndAwaitRefusal(Worker worker) {
        Future<?> start = starter.submit(worker::start);
        patiently()
                .during(Duration.ofSeconds(2))
                .until(() -> worker.health().state() == State.STARTING && !start.isDone());
        return start;
    }
}
