package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.saga.engine.SagaEngineBuilder;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.ChildJvmOptions;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Rowlock's tables, new and empty, the books beside them, and the workers and processes of one test. */
final class Scene implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration SOON = Duration.ofSeconds(90);

    private final TestSchema schema;
    private final Books books;
    private final Rowlock rowlock;
    private final List<Worker> workers = new ArrayList<>();
    private final List<ChildJvm> children = new ArrayList<>();

    private Scene(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.rowlock = rowlock(schema, schema::connect);
        rowlock.schema().install();
        this.books = Books.create(schema);
    }

    static Scene create(TestSchema ofClass) throws SQLException {
        return new Scene(TestSchema.create(ofClass.server(), "sagas"));
    }

    static Rowlock rowlock(TestSchema schema, ConnectionSource connections) {
        return Rowlock.builder().connections(connections).schema(schema.name()).build();
    }

    static SagaEngine engine(Rowlock rowlock, String queue, SagaDefinition<?>... definitions) {
        SagaEngineBuilder builder = SagaEngine.builder(rowlock).queue(queue);
        for (SagaDefinition<?> definition : definitions) {
            builder.register(definition);
        }
        return builder.build();
    }

    static ConditionFactory patiently() {
        return Awaitility.await().atMost(SOON).pollInterval(Duration.ofMillis(50));
    }

    TestSchema schema() {
        return schema;
    }

    Books books() {
        return books;
    }

    Rowlock rowlock() {
        return rowlock;
    }

    /** A worker that is stopped when the scene closes. */
    Worker start(SagaEngine engine, Rowlock of, Consumer<WorkerConfig> more) {
        return start(engine, of, LEASE, more);
    }

    Worker start(SagaEngine engine, Rowlock of, Duration lease, Consumer<WorkerConfig> more) {
        Worker worker = of.worker(config -> {
            engine.on(config).poll(Duration.ofMillis(50)).lease(lease);
            more.accept(config);
        });
        workers.add(worker);
        worker.start();
        return worker;
    }

    /** Another process, which is killed when the scene closes. */
    ChildJvm launch(Class<?> main, Consumer<ChildJvmOptions> options, String... arguments) {
        ChildJvm child = ChildJvm.start(main, jvm -> {
            jvm.sharing(schema.server())
                    .property("org.slf4j.simpleLogger.defaultLogLevel", "error")
                    .arguments(schema.name(), books.name())
                    .arguments(arguments)
                    .jvmArguments("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx160m");
            options.accept(jvm);
        });
        children.add(child);
        return child;
    }

    void begin(SagaEngine engine, SagaType<Purchase> type, Purchase... all) throws SQLException {
        try (Connection connection = schema.begin()) {
            for (Purchase each : all) {
                engine.sagas().start(connection, type, each.id(), each);
            }
            connection.commit();
        }
    }

    String status(String saga) throws SQLException {
        return schema.one(String.class, "SELECT status FROM rowlock_saga WHERE id = ?", saga)
                .orElse("none");
    }

    void await(String saga, SagaStatus status) {
        patiently().until(() -> status(saga), status.name().toLowerCase(Locale.ROOT)::equals);
    }

    void awaitStep(String saga, String step, String status) {
        patiently()
                .until(
                        () -> schema.one(
                                        String.class,
                                        "SELECT status FROM rowlock_saga_step WHERE saga = ? AND step = ? AND branch = ''",
                                        saga,
                                        step)
                                .orElse("none"),
                        status::equals);
    }

    /** Waits until no saga moves any more: all are finished or need a person. */
    void awaitAll() {
        patiently()
                .until(
                        () -> schema.list(
                                String.class,
                                "SELECT id || ' ' || status FROM rowlock_saga WHERE status IN ('running', 'compensating')"),
                        List::isEmpty);
    }

    /** The steps of a saga that were done in its own transactions: how often done, and how often undone. */
    List<String> invoices(String saga) throws SQLException {
        return schema.list(String.class, """
                SELECT step || ' ' || count(*) FILTER (WHERE NOT undo) || ' ' || count(*) FILTER (WHERE undo)
                FROM invoice WHERE saga = ? GROUP BY step ORDER BY step
                """, saga);
    }

    @Override
    public void close() throws SQLException {
        children.forEach(ChildJvm::close);
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(2)));
        books.close();
        books.schema().drop();
        schema.drop();
    }
}
