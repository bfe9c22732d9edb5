package io.rowlock.saga.engine;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.Sagas;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Empty tables, an engine of some sagas, and what each of its tests does: start sagas, run workers, wait, look. */
final class SagaScene implements AutoCloseable {
    private static final String TABLES =
            "rowlock_saga, rowlock_saga_step, rowlock_saga_signal, rowlock_operation, rowlock_job,"
                    + " rowlock_job_failure, rowlock_alert, rowlock_key, rowlock_queue, rowlock_limit, rowlock_slot,"
                    + " rowlock_cancel_request";

    private final TestSchema schema;
    private final Rowlock rowlock;
    private final SagaEngine engine;
    private final List<Worker> workers = new ArrayList<>();
    private final List<RowlockEvent.SagaEvent> events = new CopyOnWriteArrayList<>();
    private final List<String> raised = new CopyOnWriteArrayList<>();

    SagaScene(TestSchema schema, SagaDefinition<?>... definitions) throws SQLException {
        this(schema, true, definitions);
    }

    /** @param empty whether the tables are emptied first */
    SagaScene(TestSchema schema, boolean empty, SagaDefinition<?>... definitions) throws SQLException {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .connections(schema.dataSource()::getConnection)
                .schema(schema.name())
                .listener(event -> {
                    if (event instanceof RowlockEvent.SagaEvent of) {
                        events.add(of);
                    } else if (event instanceof RowlockEvent.AlertRaised alert) {
                        raised.add(alert.cause());
                    }
                })
                .build();
        SagaEngineBuilder builder = SagaEngine.builder(rowlock);
        for (SagaDefinition<?> definition : definitions) {
            builder.register(definition);
        }
        this.engine = builder.build();
        rowlock.schema().install();
        if (empty) {
            schema.execute("TRUNCATE " + TABLES);
        }
    }

    static ConditionFactory patiently() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20));
    }

    SagaOperations operations() {
        return engine.operations();
    }

    /** The causes of the alerts that the listener was told of. */
    List<String> raised() {
        return raised;
    }

    /** What the listener was told, of sagas. */
    List<RowlockEvent.SagaEvent> events() {
        return events;
    }

    Sagas sagas() {
        return engine.sagas();
    }

    Rowlock rowlock() {
        return rowlock;
    }

    TestSchema schema() {
        return schema;
    }

    Worker start() {
        return start(worker -> {});
    }

    Worker start(Consumer<WorkerConfig> more) {
        Worker worker = rowlock.worker(config ->
                more.accept(engine.on(config).poll(Duration.ofMillis(20)).lease(Duration.ofSeconds(5))));
        workers.add(worker);
        worker.start();
        return worker;
    }

    <S> SagaStarted begin(SagaType<S> type, String id, S state) throws SQLException {
        return inTransaction(connection -> sagas().start(connection, type, id, state));
    }

    <T> void signal(SagaSignal<T> signal, SagaTarget target, T payload) throws SQLException {
        inTransaction(connection -> {
            sagas().signal(connection, signal, target, payload);
            return null;
        });
    }

    /** What is done over a connection. */
    @FunctionalInterface
    interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    <T> T inTransaction(Work<T> work) throws SQLException {
        try (Connection connection = schema.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            T result = work.over(connection);
            connection.commit();
            return result;
        }
    }

    void await(String id, SagaStatus status) {
        patiently().until(() -> status(id), status.name().toLowerCase(Locale.ROOT)::equals);
    }

    void awaitStep(String id, String step, String status) {
        patiently().until(() -> step(id, step), status::equals);
    }

    static void await(Callable<Boolean> condition) {
        patiently().until(condition);
    }

    String status(String id) throws SQLException {
        return one("SELECT status FROM rowlock_saga WHERE id = ?", id);
    }

    String step(String id, String step) throws SQLException {
        return one("SELECT status FROM rowlock_saga_step WHERE saga = ? AND step = ? AND branch = ''", id, step);
    }

    /** The steps that have ended, in their order, with their statuses. */
    List<String> steps(String id) throws SQLException {
        return schema.list(
                String.class,
                "SELECT step || ' ' || status FROM rowlock_saga_step WHERE saga = ? AND ended IS NOT NULL ORDER BY ended",
                id);
    }

    String one(String sql, Object... params) throws SQLException {
        List<String> found = schema.list(String.class, sql, params);
        return found.isEmpty() ? "none" : found.get(0);
    }

    void stopAll() {
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(5)));
    }

    @Override
    public void close() {
        stopAll();
    }
}
