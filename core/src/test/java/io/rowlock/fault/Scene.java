package io.rowlock.fault;

import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockListener;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.awaitility.core.ConditionFactory;

/** Rowlock's tables, two side tables and the workers of one test; and what fault tests ask of them. */
final class Scene implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(3);
    static final Duration SOON = Duration.ofSeconds(60);
    static final RetryPolicy AT_ONCE = RetryPolicy.fixed(Duration.ofMillis(50)).maxAttempts(20);

    private final TestSchema schema;
    private final Rowlock plain;
    private final List<Deeds> deeds = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    Scene(TestSchema schema) {
        this.schema = schema;
        this.plain = rowlock(schema.dataSource()::getConnection);
    }

    /** Installs what is missing and empties every table. */
    static Scene empty(TestSchema schema) throws SQLException {
        Scene scene = new Scene(schema);
        scene.plain.schema().install();
        schema.execute("""
                CREATE TABLE IF NOT EXISTS started (job_id bigint, name text, attempt int, token bigint, who text,
                                                    at timestamptz DEFAULT clock_timestamp());
                CREATE TABLE IF NOT EXISTS ended (job_id bigint, name text, attempt int, who text);
                CREATE TABLE IF NOT EXISTS effect (job_id bigint, name text, attempt int, who text);
                TRUNCATE started, ended, effect, rowlock_job, rowlock_job_failure, rowlock_alert, rowlock_key,
                         rowlock_queue, rowlock_limit, rowlock_slot, rowlock_cancel_request, rowlock_saga,
                         rowlock_saga_step, rowlock_saga_signal, rowlock_operation, rowlock_schedule;
                """);
        return scene;
    }

    /** Asks again and again, for as long as a slow machine may take. */
    static ConditionFactory patiently() {
        return await().atMost(SOON).pollInterval(Duration.ofMillis(100));
    }

    TestSchema schema() {
        return schema;
    }

    Rowlock rowlock(ConnectionSource connections, RowlockListener... listeners) {
        var builder = Rowlock.builder().connections(connections).schema(schema.name());
        List.of(listeners).forEach(builder::listener);
        return builder.build();
    }

    Rowlock rowlock(RowlockListener... listeners) {
        return rowlock(schema.dataSource()::getConnection, listeners);
    }

    /** A handler that lets go of everything when the scene closes. */
    Deeds deeds(String who) {
        Deeds made = new Deeds(schema, who);
        deeds.add(made);
        return made;
    }

    /** Starts a worker with a short lease that does {@link Task}s. */
    Worker start(Rowlock rowlock, Deeds handler) {
        return start(
                rowlock, worker -> worker.lease(LEASE).handle(Task.class, handler, options -> options.retry(AT_ONCE)));
    }

    /** Starts a worker; it is stopped when the scene closes. */
    Worker start(Rowlock rowlock, Consumer<WorkerConfig> config) {
        Worker worker = worker(rowlock, config);
        worker.start();
        return worker;
    }

    Worker worker(Rowlock rowlock, Consumer<WorkerConfig> config) {
        Worker worker = rowlock.worker(settings -> {
            settings.poll(Duration.ofMillis(50));
            config.accept(settings);
        });
        workers.add(worker);
        return worker;
    }

    long enqueue(Object payload) throws SQLException {
        return enqueue(payload, options -> {});
    }

    long enqueue(Object payload, Consumer<JobOptions> options) throws SQLException {
        try (Connection connection = schema.begin()) {
            long id = plain.outbox().enqueue(connection, payload, options).id();
            connection.commit();
            return id;
        }
    }

    List<Long> enqueueAll(List<?> payloads) throws SQLException {
        try (Connection connection = schema.begin()) {
            List<JobRequest<?>> requests = new ArrayList<>();
            payloads.forEach(payload -> requests.add(JobRequest.of(payload)));
            List<Enqueued> enqueued = plain.outbox().enqueueAll(connection, requests);
            connection.commit();
            return enqueued.stream().map(Enqueued::id).toList();
        }
    }

    /** How often a task was begun, by whoever. */
    long starts(String name) throws SQLException {
        return schema.count("SELECT count(*) FROM started WHERE name = ?", name);
    }

    void awaitStart(String name, String who) {
        patiently().until(() -> schema.count("SELECT count(*) FROM started WHERE name = ? AND who = ?", name, who) > 0);
    }

    void awaitState(long id, String state) {
        patiently()
                .until(() ->
                        schema.count("SELECT count(*) FROM rowlock_job WHERE id = ? AND state = ?", id, state) == 1);
    }

    /** Waits until no job is left to do. */
    void awaitAllDone() {
        patiently().until(() -> count("state = 'ready'") == 0);
    }

    /** How many jobs fit a condition. */
    long count(String condition) throws SQLException {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE " + condition);
    }

    long number(long id, String column) throws SQLException {
        return schema.count("SELECT " + column + "::bigint FROM rowlock_job WHERE id = ?", id);
    }

    /** The error classes of the failed attempts, in their order. */
    List<String> failures(long id) {
        return plain.jobs().failures(id).stream().map(JobFailure::errorClass).toList();
    }

    /** What is alerted of deaths. */
    long alerts() throws SQLException {
        return schema.count("SELECT coalesce(sum(n), 0)::bigint FROM rowlock_alert WHERE cause LIKE '% dead'");
    }

    @Override
    public void close() throws SQLException {
        deeds.forEach(Deeds::openAll);
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(5)));
        for (Deeds each : deeds) {
            each.close();
        }
    }
}
