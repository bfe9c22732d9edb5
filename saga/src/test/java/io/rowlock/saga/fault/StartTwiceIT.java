package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One id is one saga, however often and from wherever it is started. */
@PostgresTest
@Tag("B09")
@Timeout(180)
final class StartTwiceIT {
    private static final SagaType<Purchase> TRIP = SagaType.named("trip", Purchase.class);
    private static final SagaType<Purchase> OTHER = SagaType.named("other", Purchase.class);
    private static final int THREADS = 20;

    private final Gates gates = new Gates();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private Scene scene;
    private SagaEngine first;
    private SagaEngine second;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
        first = engine();
        second = engine();
    }

    @AfterEach
    void end() throws SQLException {
        gates.openAll();
        threads.shutdownNow();
        scene.close();
    }

    private SagaEngine engine() {
        var rowlock = Scene.rowlock(scene.schema(), scene.schema()::connect);
        SagaEngine engine = Scene.engine(rowlock, "default", definition("trip"), definition("other"));
        scene.start(engine, rowlock, worker -> {});
        return engine;
    }

    private SagaDefinition<Purchase> definition(String name) {
        return saga -> saga.named(name, Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .noCompensation()
                .step("b")
                .call(gates::call)
                .noCompensation()
                .build();
    }

    @Test
    void twenty_threads_on_two_engines_start_one_saga_whose_steps_run_once() throws Exception {
        gates.shut("1 a");
        assertThat(startAtOnce()).filteredOn(started -> !started.duplicate()).hasSize(1);
        gates.awaitBegun("1 a");
        assertThat(startAtOnce()).as("while it runs").allMatch(SagaStarted::duplicate);
        gates.open("1 a");
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(startAtOnce()).as("after it has completed").allMatch(SagaStarted::duplicate);

        assertThat(scene.schema().list(String.class, "SELECT state FROM rowlock_job WHERE kind LIKE 'saga/%'"))
                .as("drivers")
                .containsExactly("completed");
        assertThat(scene.schema().list(String.class, "SELECT id || ' ' || status FROM rowlock_saga"))
                .containsExactly("1 completed");
        assertThat(gates.done()).containsExactly("1 a", "1 b");
    }

    @Test
    void an_id_is_of_one_saga_only_whichever_of_its_names_came_first() throws Exception {
        gates.shut("1 a");
        start(first, TRIP);
        assertThatThrownBy(() -> start(second, OTHER))
                .as("while it runs")
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("The id 1 is that of a saga trip");
        gates.open("1 a");
        scene.await("1", SagaStatus.COMPLETED);
        assertThatThrownBy(() -> start(second, OTHER)).isInstanceOf(InvalidUseException.class);
        assertThat(scene.schema().list(String.class, "SELECT kind FROM rowlock_job"))
                .containsExactly("saga/trip/1");
    }

    private List<SagaStarted> startAtOnce() throws Exception {
        CyclicBarrier together = new CyclicBarrier(THREADS);
        List<Future<SagaStarted>> starting = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            SagaEngine engine = i % 2 == 0 ? first : second;
            starting.add(threads.submit(() -> {
                try (Connection connection = scene.schema().begin()) {
                    together.await();
                    SagaStarted started = engine.sagas().start(connection, TRIP, "1", Purchase.of("1", ""));
                    connection.commit();
                    return started;
                }
            }));
        }
        List<SagaStarted> started = new ArrayList<>();
        for (Future<SagaStarted> each : starting) {
            started.add(each.get());
        }
        assertThat(started).hasSize(THREADS).allMatch(each -> each.id().equals("1"));
        return started;
    }

    private void start(SagaEngine engine, SagaType<Purchase> type) throws SQLException {
        scene.begin(engine, type, Purchase.of("1", ""));
    }
}
