package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaOutcome;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do to sagas that wait for them, and to those that do not. */
@PostgresTest
final class InterventionsIT {
    private static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    private static final SagaType<Trip> CHILD = SagaType.named("child", Trip.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final By ME = new By("ann", "it is fixed");

    private final List<String> done = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);
    private SagaScene scene;

    record Trip(String name, List<String> log) {
        static Trip to(String name) {
            return new Trip(name, List.of());
        }

        Trip plus(String entry) {
            List<String> longer = new ArrayList<>(log);
            longer.add(entry);
            return new Trip(name, longer);
        }
    }

    @AfterEach
    void end() {
        scene.close();
    }

    private Trip deed(Trip trip, String what) {
        done.add(what);
        return trip.plus(what);
    }

    private Trip unlessBroken(Trip trip, String what) {
        if (broken.get()) {
            done.add("try " + what);
            throw new IllegalStateException("broken");
        }
        return deed(trip, what);
    }

    private String state(String id) throws Exception {
        return scene.one("SELECT state::text FROM rowlock_saga WHERE id = ?", id);
    }

    private List<String> operations() throws Exception {
        return scene.schema()
                .list(
                        String.class,
                        "SELECT concat_ws(' ', what, saga, step, who, why) FROM rowlock_operation ORDER BY id");
    }

    private long drivers() throws Exception {
        return scene.schema().count("SELECT count(*) FROM rowlock_job WHERE kind LIKE 'saga/%' AND state = 'ready'");
    }

    /** Stuck at its pivot b, which is tried twice, once after each retry. */
    private void stuck(TestSchema schema) throws Exception {
        run(schema, pivots());
        scene.await("1", SagaStatus.STUCK);
    }

    private SagaDefinition<Trip> pivots() {
        return saga -> saga.named("trip", Trip.class)
                .version(1)
                .businessKey(Trip::name)
                .step("a")
                .call((trip, step) -> deed(trip, "a"))
                .compensate((trip, step) -> done.add("undo a"))
                .pivot("b")
                .call((trip, step) -> unlessBroken(trip, "b"))
                .retry(fixed(Duration.ZERO).maxAttempts(2))
                .step("c")
                .call((trip, step) -> deed(trip, "c"))
                .build();
    }

    /** The compensation of b fails. */
    private void compensationFailed(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .compensate((trip, step) -> unlessBroken(trip, "undo b"))
                        .retryCompensation(fixed(Duration.ZERO).maxAttempts(2))
                        .step("c")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .noCompensation()
                        .build());
        scene.await("1", SagaStatus.COMPENSATION_FAILED);
    }

    @Test
    void a_retry_gives_a_failed_step_its_attempts_anew(TestSchema schema) throws Exception {
        stuck(schema);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        SagaScene.await(() -> Collections.frequency(done, "try b") == 4);
        scene.await("1", SagaStatus.STUCK);
        broken.set(false);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(done).endsWith("b", "c");
        assertThat(scene.one("SELECT attempts::text FROM rowlock_saga_step WHERE step = 'b'"))
                .isEqualTo("1");
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.FINISHED);
        assertThat(scene.operations().retry("2", ME)).isEqualTo(SagaAnswer.UNKNOWN);
        assertThat(operations()).containsExactly("retry 1 ann it is fixed", "retry 1 ann it is fixed");
        SagaScene.await(() -> scene.events().contains(new SagaOutcome.SagaCompleted("1", "trip", 1)));
        assertThat(scene.events()).anyMatch(SagaOutcome.SagaStuck.class::isInstance);
    }

    @Test
    void two_retries_at_once_give_it_one_driver(TestSchema schema) throws Exception {
        stuck(schema);
        scene.close();
        List<CompletableFuture<SagaAnswer>> both;
        try (Connection holder = schema.begin();
                var statement = holder.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_saga WHERE id = '1' FOR UPDATE");
            both = List.of(
                    CompletableFuture.supplyAsync(() -> scene.operations().retry("1", ME)),
                    CompletableFuture.supplyAsync(() -> scene.operations().retry("1", ME)));
            assertThat(both).noneMatch(CompletableFuture::isDone);
        }
        assertThat(both)
                .extracting(CompletableFuture::join)
                .containsExactlyInAnyOrder(SagaAnswer.DONE, SagaAnswer.HEALTHY);
        assertThat(drivers()).isEqualTo(1);
        assertThat(operations()).hasSize(1);
    }

    @Test
    void a_row_that_stays_locked_is_an_error_and_nothing_is_done(TestSchema schema) throws Exception {
        stuck(schema);
        try (Connection holder = schema.begin();
                var statement = holder.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_saga WHERE id = '1' FOR UPDATE");
            assertThatThrownBy(() -> scene.operations().retry("1", ME))
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("locked");
        }
        assertThat(operations()).isEmpty();
        assertThat(scene.status("1")).isEqualTo("stuck");
    }

    @Test
    void the_new_driver_has_the_headers_of_the_saga(TestSchema schema) throws Exception {
        stuck(schema);
        scene.close();
        schema.execute("UPDATE rowlock_saga SET headers = '{\"tenant\":\"blue\"}'");
        scene.operations().retry("1", ME);
        assertThat(scene.one(
                        "SELECT headers ->> 'tenant' FROM rowlock_job WHERE state = 'ready' AND kind LIKE 'saga/%'"))
                .isEqualTo("blue");
        assertThat(scene.one("SELECT subject FROM rowlock_job WHERE state = 'ready' AND kind LIKE 'saga/%'"))
                .isEqualTo("rome");
    }

    @Test
    void a_compensation_is_retried_skipped_or_resolved(TestSchema schema) throws Exception {
        compensationFailed(schema);
        assertThat(scene.operations().skip("1", "a", ME)).isEqualTo(SagaAnswer.WRONG_STEP);
        assertThat(scene.operations().skip("1", "none", ME)).isEqualTo(SagaAnswer.WRONG_STEP);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        SagaScene.await(() -> Collections.frequency(done, "try undo b") == 4);
        scene.await("1", SagaStatus.COMPENSATION_FAILED);
        assertThatThrownBy(() -> scene.operations().resolve("1", "b", Trip.to("oslo"), ME))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("compensation");
        assertThat(scene.operations().resolve("1", "b", null, ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.one("SELECT reason FROM rowlock_saga"))
                .startsWith("c: ")
                .doesNotContain("compensation of");
        assertThat(done).endsWith("try undo b", "undo a").doesNotContain("undo b");
        assertThat(scene.step("1", "b")).isEqualTo("resolved");
        SagaScene.await(() -> scene.events().stream().anyMatch(SagaOutcome.SagaCompensated.class::isInstance));
        assertThat(scene.events()).anyMatch(SagaOutcome.SagaCompensationFailed.class::isInstance);
    }

    @Test
    void a_skipped_compensation_is_not_run(TestSchema schema) throws Exception {
        compensationFailed(schema);
        assertThat(scene.operations().skip("1", "b", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.step("1", "b")).isEqualTo("skipped");
        assertThat(done).endsWith("try undo b", "undo a");
        assertThat(operations()).containsExactly("skip 1 b ann it is fixed");
    }

    @Test
    void a_skipped_step_leaves_the_state_as_it_was(TestSchema schema) throws Exception {
        stuck(schema);
        assertThat(scene.operations().skip("1", "b", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"c\"]");
    }

    @Test
    void a_resolved_step_may_bring_a_state_of_the_right_class(TestSchema schema) throws Exception {
        stuck(schema);
        assertThatThrownBy(() -> scene.operations().resolve("1", "b", "a text", ME))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Trip");
        assertThat(operations()).isEmpty();
        assertThat(scene.status("1")).isEqualTo("stuck");
        assertThat(scene.operations().resolve("1", "b", Trip.to("rome").plus("by hand"), ME))
                .isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"by hand\",\"c\"]");
        assertThat(scene.steps("1")).containsExactly("a completed", "b resolved", "c completed");
    }

    @Test
    void a_step_in_a_branch_is_resolved_with_the_state_of_that_branch(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .pivot("p")
                        .call((trip, step) -> deed(trip, "p"))
                        .parallel(
                                "both",
                                Branch.branch(
                                        "one",
                                        chain -> chain.step("x")
                                                .call((trip, step) -> unlessBroken(trip, "x"))
                                                .retry(fixed(Duration.ZERO).maxAttempts(1))),
                                Branch.branch("two", chain -> chain.step("y").call((trip, step) -> deed(trip, "y"))))
                        .join((trip, results) -> trip.plus(results.of("one").log() + "+"
                                + results.of("two").log()))
                        .build());
        scene.await("1", SagaStatus.STUCK);
        assertThat(scene.operations().resolve("1", "x", Trip.to("rome").plus("by hand"), ME))
                .isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[by hand]+[p, y]");
    }

    @Test
    void a_join_that_failed_is_retried_with_the_results_of_its_branches(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .pivot("p")
                        .call((trip, step) -> deed(trip, "p"))
                        .parallel(
                                "both",
                                Branch.branch("one", chain -> chain.step("x").call((trip, step) -> deed(trip, "x"))),
                                Branch.branch("two", chain -> chain.step("y").call((trip, step) -> deed(trip, "y"))))
                        .join((trip, results) -> unlessBroken(
                                trip,
                                results.of("one").log() + "+"
                                        + results.of("two").log()))
                        .build());
        scene.await("1", SagaStatus.STUCK);
        broken.set(false);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[p, x]+[p, y]");
        assertThat(Collections.frequency(done, "x")).isEqualTo(1);
    }

    @Test
    void a_healthy_saga_is_left_alone(TestSchema schema) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> {
                            begun.countDown();
                            goOn.await();
                            return deed(trip, "a");
                        })
                        .noCompensation()
                        .build());
        begun.await();
        assertThat(scene.operations().skip("1", "a", ME)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(scene.operations().resolve("1", "a", null, ME)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(scene.operations().resolveWhole("1", ME)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(scene.operations().hurry("1", ME)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(operations()).isEmpty();
        goOn.countDown();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(done).containsExactly("a");
    }

    @Test
    void a_saga_whose_driver_died_goes_on_where_it_stood(TestSchema schema) throws Exception {
        run(schema, awaits());
        scene.awaitStep("1", "paid", "waiting");
        killDriver(schema);
        assertThat(scene.operations().hurry("1", ME)).isEqualTo(SagaAnswer.NEEDS_PERSON);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.signal(PAID, SagaTarget.saga("1"), 7);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(done).containsExactly("a");
        assertThat(state("1")).contains("paid 7");
    }

    @Test
    void one_that_was_being_undone_when_its_driver_died_is_undone(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> unlessBroken(trip, "undo a"))
                        .retryCompensation(fixed(Duration.ofHours(1)))
                        .step("c")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .noCompensation()
                        .build());
        SagaScene.await(() -> done.contains("try undo a") && drivers() == 1);
        killDriver(schema);
        broken.set(false);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("a", "try undo a", "undo a");
    }

    @Test
    void a_stuck_saga_is_cancelled_before_its_pivot(TestSchema schema) throws Exception {
        run(schema, awaits());
        scene.awaitStep("1", "paid", "waiting");
        killDriver(schema);
        assertThat(scene.sagas().cancel("1", ME)).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("a", "undo a");
        assertThat(scene.one("SELECT reason FROM rowlock_saga")).isEqualTo("cancelled: ann: it is fixed");
        assertThat(operations()).containsExactly("cancel 1 ann it is fixed");
    }

    @Test
    void what_was_done_by_hand_before_the_pivot_is_undone_like_other_steps(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> unlessBroken(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .retry(fixed(Duration.ofHours(1)))
                        .step("c")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .noCompensation()
                        .build());
        scene.awaitStep("1", "a", "retrying");
        killDriver(schema);
        assertThat(scene.operations().resolve("1", "a", null, ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("try a", "undo a");
    }

    private SagaDefinition<Trip> awaits() {
        return saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> deed(trip, "a"))
                .compensate((trip, step) -> done.add("undo a"))
                .await(PAID, (trip, sum) -> trip.plus("paid " + sum))
                .within(Duration.ofDays(1))
                .otherwise(Escalation.escalate())
                .build();
    }

    /** As a driver that became a dead letter leaves its saga. */
    private void killDriver(TestSchema schema) throws Exception {
        SagaScene.await(
                () -> schema.count("SELECT count(*) FROM rowlock_job WHERE kind LIKE 'saga/%' AND state = 'ready'"
                                + " AND locked_by IS NULL")
                        == 1);
        schema.execute(
                "UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp() WHERE kind LIKE 'saga/%';"
                        + " UPDATE rowlock_saga SET status = 'stuck', reason = 'its driver failed', driver = NULL");
    }

    @Test
    void a_saga_that_is_ended_by_hand_lets_its_parent_go_on_and_its_key_go(TestSchema schema) throws Exception {
        SagaDefinition<Trip> child = saga -> saga.named("child", Trip.class)
                .version(1)
                .businessKey(Trip::name)
                .pivot("c")
                .call((trip, step) -> unlessBroken(trip, "c"))
                .retry(fixed(Duration.ZERO).maxAttempts(1))
                .build();
        SagaDefinition<Trip> parent = saga -> saga.named("trip", Trip.class)
                .version(1)
                .child("sub", CHILD)
                .startedWith(trip -> Trip.to(trip.name()))
                .completed((trip, sub) -> trip.plus("child " + sub.log()))
                .noCompensation()
                .build();
        scene = new SagaScene(schema, parent, child);
        scene.start();
        scene.begin(TRIP, "1", Trip.to("rome"));
        scene.await("1/sub", SagaStatus.STUCK);
        assertThat(scene.operations().resolveWhole("1/sub", ME)).isEqualTo(SagaAnswer.DONE);
        assertThat(scene.operations().resolveWhole("1/sub", ME)).isEqualTo(SagaAnswer.FINISHED);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.status("1/sub")).isEqualTo("resolved");
        assertThat(scene.begin(CHILD, "other", Trip.to("rome")).duplicate()).isFalse();
        assertThat(scene.events())
                .contains(new SagaOutcome.SagaResolved("1/sub", "child", 1, "resolved by ann: it is fixed"));
    }

    @Test
    @Tag("P7")
    void a_saga_that_waits_for_its_next_attempt_is_hurried(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> unlessBroken(trip, "a"))
                        .noCompensation()
                        .retry(fixed(Duration.ofHours(1)))
                        .build());
        SagaScene.await(() -> scene.step("1", "a").equals("retrying")
                && scene.one("SELECT locked_by FROM rowlock_job WHERE kind LIKE 'saga/%'") == null);
        broken.set(false);
        assertThat(scene.operations().hurry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.operations().hurry("1", ME)).isEqualTo(SagaAnswer.FINISHED);
        assertThat(operations()).containsExactly("hurry 1 ann it is fixed");
    }

    @Test
    void bad_input_is_refused_before_any_sql(TestSchema schema) throws Exception {
        run(schema, awaits());
        assertThatThrownBy(() -> scene.operations().retry("1", null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> scene.operations().retry("", ME)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> scene.operations().skip("1", null, ME)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> scene.operations().fork("1", "a", "x\n", ME)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> scene.operations().find(null)).isInstanceOf(InvalidUseException.class);
    }

    private void run(TestSchema schema, SagaDefinition<Trip> definition) throws Exception {
        scene = new SagaScene(schema, definition);
        scene.start();
        assertThat(scene.begin(TRIP, "1", Trip.to("rome")).duplicate()).isFalse();
    }
}
