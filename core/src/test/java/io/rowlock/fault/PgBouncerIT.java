package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Workers and clients behind a PgBouncer, where one is installed. */
@PostgresTest
@Tag("P10")
@Timeout(240)
final class PgBouncerIT {
    private static final int JOBS = 200;
    private static final int INSTANCES = 5;

    private TestSchema schema;
    private Scene scene;
    private PgBouncer bouncer;

    @BeforeEach
    void begin(TestSchema given) throws Exception {
        Assumptions.assumeTrue(PgBouncer.program().isPresent(), "PgBouncer is not installed here");
        schema = given;
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws Exception {
        if (scene != null) {
            scene.close();
        }
        if (bouncer != null) {
            bouncer.close();
        }
    }

    /** The driver prepares statements after a few uses, as by default: their names would meet those of other clients. */
    @ParameterizedTest
    @ValueSource(strings = {"transaction", "session"})
    void worker_does_its_jobs_and_leaves_nothing_on_the_sessions_of_others(String mode) throws Exception {
        bouncer = PgBouncer.before(schema, mode);
        Heard heard = new Heard();
        Deeds deeds = scene.deeds("me");
        deeds.openAll();
        scene.start(scene.rowlock(bouncer.dataSource(schema)::getConnection, heard), deeds);
        for (int i = 0; i < JOBS; i++) { // one by one, so that the worker claims many times
            scene.enqueue(Task.quick("t" + i));
        }
        scene.awaitAllDone();
        assertThat(scene.count("state = 'completed'")).isEqualTo(JOBS);
        assertThat(heard.of(LoopFailed.class)).isEmpty();
        assertThat(limitsOfAnySession()).isEqualTo("0 0");
    }

    @Test
    @Tag("P4")
    void transactional_handlers_work_in_transaction_mode_without_prepared_statements() throws Exception {
        bouncer = PgBouncer.before(schema, "transaction");
        PGSimpleDataSource source = bouncer.dataSource(schema);
        source.setPrepareThreshold(0);
        List<Long> jobs = scene.enqueueAll(
                IntStream.range(0, JOBS).mapToObj(i -> new Booking("b" + i)).toList());
        scene.start(
                scene.rowlock(source::getConnection),
                worker -> worker.lease(Scene.LEASE)
                        .handleTransactionally(
                                Booking.class,
                                (booking, job, connection) -> book(connection, job.id()),
                                options -> options.retry(Scene.AT_ONCE)));
        scene.awaitAllDone();
        assertThat(schema.list(Long.class, "SELECT job_id FROM effect ORDER BY job_id"))
                .isEqualTo(jobs);
    }

    /** Names its schema: no search path stays with a client. */
    private void book(Connection connection, long job) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO " + schema.name() + ".effect (job_id) VALUES (?)")) {
            insert.setLong(1, job);
            insert.executeUpdate();
        }
    }

    @Test
    @Tag("B54")
    void several_instances_install_the_tables_through_it_at_once() throws Exception {
        bouncer = PgBouncer.before(schema, "transaction");
        try (TestSchema empty = TestSchema.create(schema.server(), "bounced")) {
            List<Callable<Void>> instances = new ArrayList<>();
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(() -> {
                    installing(empty).schema().install();
                    return null;
                });
            }
            ExecutorService threads = Executors.newFixedThreadPool(INSTANCES);
            try {
                for (Future<Void> each : threads.invokeAll(instances)) {
                    each.get();
                }
            } finally {
                threads.shutdownNow();
            }
            installing(empty).schema().validate();
        }
    }

    private Rowlock installing(TestSchema empty) {
        PGSimpleDataSource source = bouncer.dataSource(empty);
        source.setPrepareThreshold(0);
        return Rowlock.builder()
                .connections(source::getConnection)
                .schema(empty.name())
                .build();
    }

    private String limitsOfAnySession() throws SQLException {
        try (Connection connection = bouncer.dataSource(schema).getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT current_setting('lock_timeout') || ' '"
                        + " || current_setting('idle_in_transaction_session_timeout')")) {
            row.next();
            return row.getString(1);
        }
    }
}
