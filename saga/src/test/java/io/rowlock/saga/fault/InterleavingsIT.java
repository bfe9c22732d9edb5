package io.rowlock.saga.fault;

import static io.rowlock.saga.fault.Scene.patiently;
import static java.util.concurrent.CompletableFuture.supplyAsync;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two want the same saga at the same moment: whoever commits first, nothing is lost. Each is forced by a commit that is held back. */
@PostgresTest
@Tag("P4")
@Timeout(180)
final class InterleavingsIT {
    private static final SagaType<Purchase> TRIP = SagaType.named("trip", Purchase.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final By ANN = new By("ann", "changed her mind");

    private final StalledCommits commits = new StalledCommits();
    private final Gates gates = new Gates();
    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        commits.letGo();
        gates.openAll();
        scene.close();
    }

    @Test
    void a_signal_that_is_not_committed_when_the_driver_decides_to_wait_is_not_lost() throws Exception {
        SagaEngine engine = run(waiting());
        inStep("1 a", engine);
        commits.stall("record-signal");
        signal(engine, "1");
        commits.awaitStalled();
        gates.open("1 a");
        commits.awaitAskedMore("lock-sagas", 5);
        assertThat(step("a")).isEqualTo("started");
        commits.letGo();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"paid 7\",\"b\"]");
    }

    @Test
    void a_signal_that_comes_while_the_drivers_wait_is_being_committed_wakes_it() throws Exception {
        SagaEngine engine = run(waiting());
        commits.stall("put-back-drivers");
        scene.begin(engine, TRIP, Purchase.of("1", ""));
        commits.awaitStalled();
        signal(engine, "1");
        commits.awaitAskedMore("lock-saga", 3);
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_saga_signal"))
                .isZero();
        commits.letGo();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"paid 7\",\"b\"]");
    }

    @Test
    void a_cancel_waits_for_the_record_of_a_step_and_is_heeded_after_the_next() throws Exception {
        SagaEngine engine = run(steps());
        inStep("1 a", engine);
        gates.shut("1 b");
        commits.stall(WatchedConnections.RECORD);
        gates.open("1 a");
        commits.awaitStalled();
        Future<SagaCancellation> cancel = supplyAsync(() -> engine.sagas().cancel("1", ANN));
        commits.awaitAskedMore("lock-saga", 3);
        commits.letGo();
        assertThat(cancel.get()).isEqualTo(SagaCancellation.ACCEPTED);
        gates.open("1 b");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 b", "1 undo-b", "1 undo-a");
    }

    @Test
    void a_cancel_that_comes_while_the_start_of_the_pivot_is_being_committed_is_refused() throws Exception {
        SagaEngine engine = run(saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .pivot("b")
                .call(gates::call)
                .build());
        inStep("1 a", engine);
        commits.stall(WatchedConnections.RECORD);
        gates.open("1 a");
        commits.awaitStalled();
        Future<SagaCancellation> cancel = supplyAsync(() -> engine.sagas().cancel("1", ANN));
        commits.awaitAskedMore("lock-saga", 3);
        commits.letGo();
        assertThat(cancel.get()).isIn(SagaCancellation.ONLY_FORWARD, SagaCancellation.ALREADY_FINISHED);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(gates.done()).containsExactly("1 a", "1 b");
    }

    @Test
    void a_cancel_that_is_being_committed_keeps_the_next_step_from_beginning() throws Exception {
        SagaEngine engine = run(steps());
        inStep("1 a", engine);
        commits.stall("cancel-saga");
        Future<SagaCancellation> cancel = supplyAsync(() -> engine.sagas().cancel("1", ANN));
        commits.awaitStalled();
        gates.open("1 a");
        commits.awaitAskedMore("lock-sagas", 5);
        assertThat(step("a")).isEqualTo("started");
        commits.letGo();
        assertThat(cancel.get()).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 undo-a");
    }

    /** An accepted cancel is heeded, even if all that was left to do is done. */
    @Test
    void a_cancel_that_comes_in_the_last_step_undoes_all() throws Exception {
        SagaEngine engine = run(steps());
        inStep("1 b", engine);
        assertThat(engine.sagas().cancel("1", ANN)).isEqualTo(SagaCancellation.ACCEPTED);
        gates.open("1 b");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 b", "1 undo-b", "1 undo-a");
    }

    @Test
    void a_cancel_that_comes_while_the_end_is_being_committed_is_too_late() throws Exception {
        SagaEngine engine = run(steps());
        inStep("1 b", engine);
        commits.stall(WatchedConnections.RECORD);
        gates.open("1 b");
        commits.awaitStalled();
        Future<SagaCancellation> cancel = supplyAsync(() -> engine.sagas().cancel("1", ANN));
        commits.awaitAskedMore("lock-saga", 3);
        commits.letGo();
        assertThat(cancel.get()).isEqualTo(SagaCancellation.ALREADY_FINISHED);
        assertThat(scene.status("1")).isEqualTo("completed");
        assertThat(gates.done()).containsExactly("1 a", "1 b");
    }

    @Test
    void a_deadline_that_passes_before_the_last_step_is_recorded_undoes_all() throws Exception {
        lateInStep("1 b");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 b", "1 undo-b", "1 undo-a");
    }

    @Test
    void a_deadline_that_passes_while_the_end_is_being_committed_is_kept() throws Exception {
        SagaEngine engine = run(late());
        inStep("1 b", engine);
        commits.stall(WatchedConnections.RECORD);
        scene.schema().update("UPDATE rowlock_saga SET deadline = clock_timestamp() + interval '1 second'");
        gates.open("1 b");
        commits.awaitStalled();
        patiently()
                .until(() ->
                        scene.schema().count("SELECT count(*) FROM rowlock_saga WHERE deadline < clock_timestamp()")
                                == 1);
        commits.letGo();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(gates.done()).containsExactly("1 a", "1 b");
    }

    @Test
    void a_deadline_that_passes_while_a_step_is_being_recorded_keeps_the_next_from_beginning() throws Exception {
        lateInStep("1 a");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 undo-a");
        assertThat(scene.schema().list(String.class, "SELECT reason FROM rowlock_saga"))
                .containsExactly("its deadline is over");
    }

    /** The saga's row is locked by somebody else until its deadline has passed; meanwhile its driver wants to record the step. */
    private void lateInStep(String call) throws Exception {
        SagaEngine engine = run(late());
        inStep(call, engine);
        try (Connection locks = scene.schema().begin()) {
            locks.createStatement().executeUpdate("UPDATE rowlock_saga SET deadline = clock_timestamp()");
            gates.open(call);
            commits.awaitAskedMore("lock-sagas", 5);
            locks.commit();
        }
    }

    /** Its thread may run until then; what undoes it must not run beside it. */
    @Test
    void what_took_too_long_in_a_branch_is_not_undone_before_its_lease_would_have_ended() throws Exception {
        SagaEngine engine = run(saga -> saga.named("trip", Purchase.class)
                .version(1)
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.step("x")
                                        .call(gates::call)
                                        .compensate(gates::undo)
                                        .retry(RetryPolicy.fixed(Duration.ZERO))
                                        .timeout(Duration.ofMillis(300))),
                        Branch.branch(
                                "two",
                                chain -> chain.step("y")
                                        .call(gates::call)
                                        .compensate(gates::undo)
                                        .step("z")
                                        .call(gates::call)
                                        .compensate(gates::undo)))
                .join((purchase, results) -> purchase)
                .build());
        gates.shut("1 x");
        inStep("1 y", engine);
        scene.awaitStep("1", "x", "retrying");
        assertThat(engine.sagas().cancel("1", ANN)).isEqualTo(SagaCancellation.ACCEPTED);
        gates.open("1 y");
        patiently()
                .until(() -> gates.begun("1 undo-x") > 0
                        || scene.schema().count("SELECT count(*) FROM rowlock_job WHERE locked_by IS NULL") == 1);
        assertThat(gates.begun("1 undo-x")).isZero();
        assertThat(
                        scene.schema()
                                .count(
                                        "SELECT count(*) FROM rowlock_job WHERE run_at > clock_timestamp() + interval '5 seconds'"))
                .isOne();
        gates.open("1 x");
        scene.schema().update("UPDATE rowlock_job SET run_at = clock_timestamp()");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 y", "1 x", "1 undo-x", "1 undo-y");
    }

    /** Its time is that of the work; a failure must not be recorded over a commit. */
    @Test
    void a_transactional_step_whose_commit_takes_longer_than_its_time_is_done_once() throws Exception {
        SagaEngine engine = run(saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("pay")
                .transactional((purchase, step, connection) -> {
                    scene.books().inTransaction(step, connection, purchase.amount(), false);
                    commits.stall(WatchedConnections.RECORD);
                    return purchase;
                })
                .noCompensation()
                .timeout(Duration.ofMillis(500))
                .build());
        scene.begin(engine, TRIP, Purchase.of("1", ""));
        commits.awaitStalled();
        patiently()
                .until(() -> scene.schema()
                                .count("SELECT count(*) FROM rowlock_saga_step WHERE started_at < clock_timestamp()"
                                        + " - interval '2 seconds'")
                        == 1);
        commits.letGo();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.invoices("1")).containsExactly("pay 1 0");
        assertThat(scene.schema().list(Integer.class, "SELECT attempts FROM rowlock_saga_step"))
                .containsExactly(1);
    }

    /** Of the same name and id, the second waits for the first; a rollback leaves the id to it. */
    @Test
    @Tag("B09")
    void a_start_that_rolls_back_leaves_the_id_to_the_one_that_waited() throws Exception {
        SagaEngine engine = run(steps());
        Future<Boolean> second;
        try (Connection connection = scene.schema().begin()) {
            assertThat(engine.sagas()
                            .start(connection, TRIP, "1", Purchase.of("1", ""))
                            .duplicate())
                    .isFalse();
            second = supplyAsync(() -> startIn("1", engine));
            patiently()
                    .until(() -> scene.schema()
                                    .count(
                                            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%rowlock:start-saga%'"
                                                    + " AND application_name = ?",
                                            scene.schema().name())
                            == 1);
            connection.rollback();
        }
        assertThat(second.get()).as("duplicate").isFalse();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(gates.done()).containsExactly("1 a", "1 b");
    }

    private boolean startIn(String id, SagaEngine engine) {
        try (Connection connection = scene.schema().begin()) {
            boolean duplicate = engine.sagas()
                    .start(connection, TRIP, id, Purchase.of(id, ""))
                    .duplicate();
            connection.commit();
            return duplicate;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private SagaDefinition<Purchase> waiting() {
        return saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .await(PAID, (purchase, sum) -> purchase.plus("paid " + sum))
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail())
                .step("b")
                .call(gates::call)
                .compensate(gates::undo)
                .build();
    }

    private SagaDefinition<Purchase> late() {
        return saga -> saga.named("trip", Purchase.class)
                .version(1)
                .deadline(Duration.ofHours(1))
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .step("b")
                .call(gates::call)
                .compensate(gates::undo)
                .build();
    }

    private SagaDefinition<Purchase> steps() {
        return saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .step("b")
                .call(gates::call)
                .compensate(gates::undo)
                .build();
    }

    private SagaEngine run(SagaDefinition<Purchase> definition) {
        Rowlock watched = Scene.rowlock(scene.schema(), new WatchedConnections(scene.schema()::connect, commits));
        SagaEngine engine = Scene.engine(watched, "default", definition);
        scene.start(engine, watched, Duration.ofSeconds(30), worker -> {});
        return engine;
    }

    private void inStep(String call, SagaEngine engine) throws SQLException {
        gates.shut(call);
        scene.begin(engine, TRIP, Purchase.of("1", ""));
        gates.awaitBegun(call);
    }

    private void signal(SagaEngine engine, String saga) throws SQLException {
        try (Connection connection = scene.schema().begin()) {
            engine.sagas().signal(connection, PAID, SagaTarget.saga(saga), 7);
            connection.commit();
        }
    }

    private String step(String name) throws SQLException {
        return scene.schema()
                .one(String.class, "SELECT status FROM rowlock_saga_step WHERE saga = '1' AND step = ?", name)
                .orElse("none");
    }

    private String state(String saga) throws SQLException {
        return scene.schema()
                .one(String.class, "SELECT state::text FROM rowlock_saga WHERE id = ?", saga)
                .orElseThrow();
    }
}
