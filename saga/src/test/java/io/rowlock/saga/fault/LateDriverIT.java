package io.rowlock.saga.fault;

import static io.rowlock.saga.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver's process stands still past its lease, another one takes the saga over, and then the first goes on. */
@PostgresTest
@Tag("P3")
@Tag("P4")
@Tag("B02")
@Timeout(180)
final class LateDriverIT {
    private Scene scene;
    private SagaEngine engine;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
        engine = Scene.engine(
                scene.rowlock(), "default", new Shop(scene.books(), new Around() {}, Duration.ofMinutes(5)).all());
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @ParameterizedTest
    @CsvSource({
        "buy, charge, COMPLETED",
        "buy, ship, COMPLETED",
        "once, charge, COMPENSATED",
        "fail, undo-charge, COMPENSATED"
    })
    void what_was_taken_over_is_not_written_to_any_more(String type, String call, SagaStatus end) throws Exception {
        try (ChildJvm late = scene.launch(ShopChild.class, jvm -> {}, call)) {
            scene.begin(engine, SagaType.named(type, Purchase.class), Purchase.of("1", ""));
            late.awaitLine("in " + call, Scene.SOON);
            late.pause();
            scene.start(engine, scene.rowlock(), worker -> {});
            scene.await("1", end);
            List<String> before = rows();

            late.resume();
            late.send("go on");
            late.awaitLine("event LeaseLost", Scene.SOON);
            scene.begin(engine, Shop.BUY, Purchase.of("2", ""));
            scene.await("2", SagaStatus.COMPLETED);
            assertThat(rows()).isEqualTo(before);
        }
        assertThat(scene.books().severalKeys()).isEmpty();
        assertThat(scene.books().of("1"))
                .isEqualTo(
                        switch (type) {
                            case "buy" -> List.of("reserve done", "charge done", "ship done", "thank done");
                            case "once" -> List.of("reserve undone", "charge called off");
                            default -> List.of("reserve undone", "charge undone", "pack undone");
                        });
        assertThat(scene.invoices("1"))
                .isEqualTo(
                        switch (type) {
                            case "buy" -> List.of("invoice 1 0");
                            case "once" -> List.of();
                            default -> List.of("invoice 1 1");
                        });
    }

    /** Its transaction has the saga and the driver locked, so nobody can take them over, and it may commit late. */
    @Test
    void a_transactional_step_that_locked_its_saga_in_time_may_commit_after_the_lease() throws Exception {
        try (ChildJvm late = scene.launch(ShopChild.class, jvm -> {}, "invoice")) {
            scene.begin(engine, Shop.BUY, Purchase.of("1", ""));
            late.awaitLine("in invoice", Scene.SOON);
            late.pause();
            scene.start(engine, scene.rowlock(), worker -> {});
            patiently()
                    .until(() -> scene.schema()
                                    .count(
                                            "SELECT count(*) FROM rowlock_job WHERE locked_until < clock_timestamp() - interval '2 seconds'")
                            == 1);
            scene.begin(engine, Shop.BUY, Purchase.of("2", ""));
            scene.await("2", SagaStatus.COMPLETED);
            assertThat(scene.status("1")).isEqualTo("running");
            late.resume();
            late.send("go on");
            scene.await("1", SagaStatus.COMPLETED);
        }
        assertThat(scene.invoices("1")).containsExactly("invoice 1 0");
        assertThat(scene.schema()
                        .list(
                                String.class,
                                "SELECT who FROM " + scene.books().name()
                                        + ".call WHERE saga = '1' AND step = 'invoice'"))
                .containsExactly("child");
    }

    /** Nobody has told it, and its lease is far from its end: the database alone keeps it from writing. */
    @ParameterizedTest
    @ValueSource(strings = {"1 a", "1 undo-a"})
    void a_driver_that_does_not_know_that_it_lost_its_lease_writes_nothing(String call) throws Exception {
        Gates gates = new Gates();
        SagaDefinition<Purchase> definition = saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .step("b")
                .call((purchase, step) -> {
                    throw new PermanentFailure("no");
                })
                .noCompensation()
                .build();
        SagaEngine trips = Scene.engine(scene.rowlock(), "default", definition);
        Worker worker = scene.start(trips, scene.rowlock(), Duration.ofHours(1), settings -> {});
        gates.shut(call);
        scene.begin(trips, SagaType.named("trip", Purchase.class), Purchase.of("1", ""));
        gates.awaitBegun(call);
        scene.schema().update("UPDATE rowlock_job SET locked_by = 'other', token = token + 1");
        List<String> before = rows();
        gates.openAll();
        patiently().until(() -> worker.health().running() == 0);
        assertThat(rows()).isEqualTo(before);
    }

    /** All of the saga's and of its driver's rows, and which transaction wrote them. */
    private List<String> rows() throws SQLException {
        return scene.schema().list(String.class, """
                SELECT s.xmin || ' ' || s::text FROM rowlock_saga s WHERE id = '1'
                UNION ALL
                SELECT t.xmin || ' ' || t::text FROM rowlock_saga_step t WHERE saga = '1'
                UNION ALL
                SELECT j.xmin || ' ' || j::text FROM rowlock_job j WHERE payload::text = '"1"'
                ORDER BY 1
                """);
    }
}
