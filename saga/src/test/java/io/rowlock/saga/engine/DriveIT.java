package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Choice;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.OutcomeUnknown;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How sagas go forward and back, step by step. */
@PostgresTest
final class DriveIT {
    private static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    private static final SagaType<Trip> CHILD = SagaType.named("child", Trip.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger failures = new AtomicInteger();
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

    private String state(String id) throws Exception {
        return scene.one("SELECT state::text FROM rowlock_saga WHERE id = ?", id);
    }

    @Test
    void steps_run_in_order_each_with_the_state_of_the_one_before(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .noCompensation()
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .noCompensation()
                        .step("c")
                        .call((trip, step) -> deed(trip, "c"))
                        .noCompensation()
                        .build());
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"b\",\"c\"]");
        assertThat(done).containsExactly("a", "b", "c");
        assertThat(scene.steps("1")).containsExactly("a completed", "b completed", "c completed");
        assertThat(scene.one("SELECT state FROM rowlock_job WHERE kind = 'saga/trip/1'"))
                .isEqualTo("completed");
    }

    @Test
    void a_failed_attempt_is_tried_again_under_the_same_key(TestSchema schema) throws Exception {
        List<String> keys = Collections.synchronizedList(new ArrayList<>());
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> {
                            keys.add(step.key());
                            if (step.attempt() < 3) {
                                throw new IllegalStateException("not yet");
                            }
                            return deed(trip, "a");
                        })
                        .noCompensation()
                        .retry(fixed(Duration.ofMillis(20)))
                        .build());
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(keys).hasSize(3).containsOnly(keys.get(0));
        assertThat(keys.get(0)).matches("[A-Za-z0-9-]{20,100}");
    }

    @Test
    @Tag("P4")
    void a_step_that_fails_for_good_undoes_what_is_done_in_reverse(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .noCompensation()
                        .step("c")
                        .transactional((trip, step, connection) -> deed(trip, "c"))
                        .compensateTransactionally((trip, step, connection) -> done.add("undo c"))
                        .step("d")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no room");
                        })
                        .compensate((trip, step) -> done.add("undo d"))
                        .build());
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("a", "b", "c", "undo c", "undo a");
        assertThat(scene.one("SELECT reason FROM rowlock_saga")).contains("d: ").contains("no room");
    }

    @Test
    void a_step_whose_outcome_is_unknown_is_undone_too(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .step("b")
                        .call((trip, step) -> {
                            throw failures.incrementAndGet() == 1
                                    ? new OutcomeUnknown("no answer", null)
                                    : new IllegalStateException("refused");
                        })
                        .compensate((trip, step) -> done.add("undo b"))
                        .retry(fixed(Duration.ZERO).maxAttempts(2))
                        .build());
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("a", "undo b", "undo a");
    }

    @Test
    void an_attempt_that_takes_too_long_is_interrupted_and_undone(TestSchema schema) throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> {
                            try {
                                new CountDownLatch(1).await();
                            } catch (InterruptedException e) {
                                interrupted.countDown();
                            }
                            return deed(trip, "late");
                        })
                        .compensate((trip, step) -> done.add("undo a"))
                        .retry(fixed(Duration.ZERO).maxAttempts(1))
                        .timeout(Duration.ofMillis(200))
                        .build());
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(interrupted.getCount()).isZero();
        assertThat(done).containsExactly("late", "undo a");
        assertThat(state("1")).doesNotContain("late");
    }

    @Test
    void from_the_pivot_on_a_failure_needs_a_person(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .pivot("b")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .build());
        scene.await("1", SagaStatus.STUCK);
        assertThat(done).containsExactly("a");
        assertThat(scene.one("SELECT cause || ' ' || kind FROM rowlock_alert")).isEqualTo("saga stuck trip");
        SagaScene.await(() -> scene.raised().equals(List.of("saga stuck")));
        assertThat(scene.sagas().cancel("1", new By("me", "test"))).isEqualTo(SagaCancellation.ONLY_FORWARD);
    }

    @Test
    void a_compensation_that_fails_for_good_needs_a_person(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .compensate((trip, step) -> {
                            done.add("try to undo b");
                            throw new IllegalStateException("cannot");
                        })
                        .retryCompensation(fixed(Duration.ofMillis(10)).maxAttempts(3))
                        .step("c")
                        .call((trip, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .noCompensation()
                        .build());
        scene.await("1", SagaStatus.COMPENSATION_FAILED);
        assertThat(done).containsExactly("a", "b", "try to undo b", "try to undo b", "try to undo b");
        assertThat(scene.one("SELECT cause FROM rowlock_alert")).isEqualTo("saga compensation failed");
        SagaScene.await(() -> scene.raised().equals(List.of("saga compensation failed")));
    }

    @Test
    void a_saga_waits_for_its_signal_and_takes_an_early_one(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .businessKey(Trip::name)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .noCompensation()
                        .await(PAID, (trip, sum) -> trip.plus("paid " + sum))
                        .within(Duration.ofDays(1))
                        .otherwise(Escalation.fail())
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .noCompensation()
                        .build());
        scene.awaitStep("1", "paid", "waiting");
        scene.signal(PAID, SagaTarget.businessKey("rome"), 7);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"paid 7\",\"b\"]");
        scene.signal(PAID, SagaTarget.saga("2"), 8);
        SagaScene.await(() -> scene.one(
                        "SELECT attempts::text FROM rowlock_job WHERE kind = 'rowlock-saga-wish' AND state = 'ready'")
                .equals("1"));
        scene.begin(TRIP, "2", Trip.to("oslo"));
        scene.await("2", SagaStatus.COMPLETED);
        assertThat(state("2")).contains("paid 8");
    }

    @Test
    void a_wait_that_is_over_fails_or_goes_on(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .sleep("nap", Duration.ofMillis(50))
                        .await("maybe", PAID, (trip, sum) -> trip)
                        .within(Duration.ofMillis(50))
                        .otherwise(Escalation.continueWith(trip -> trip.plus("unpaid")))
                        .step("b")
                        .call((trip, step) -> deed(trip, "b"))
                        .compensate((trip, step) -> done.add("undo b"))
                        .await("surely", PAID, (trip, sum) -> trip)
                        .within(Duration.ofMillis(50))
                        .otherwise(Escalation.fail())
                        .build());
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(state("1")).contains("[\"unpaid\",\"b\"]");
        assertThat(done).containsExactly("b", "undo b");
    }

    @Test
    void branches_work_on_states_of_their_own_until_they_are_joined(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .choose(
                                "way",
                                Choice.when(
                                        "far",
                                        trip -> trip.name().length() > 10,
                                        chain -> chain.step("fly")
                                                .call((trip, step) -> deed(trip, "fly"))
                                                .noCompensation()),
                                Choice.otherwise())
                        .parallel(
                                "both",
                                Branch.branch(
                                        "one",
                                        chain -> chain.step("x")
                                                .call((trip, step) -> deed(trip, "x"))
                                                .noCompensation()
                                                .sleep("pause", Duration.ofMillis(30))
                                                .step("y")
                                                .call((trip, step) -> deed(trip, "y"))
                                                .noCompensation()),
                                Branch.branch(
                                        "two",
                                        chain -> chain.step("z")
                                                .call((trip, step) -> deed(trip, "z"))
                                                .noCompensation()))
                        .join((trip, results) -> trip.plus(results.of("one").log() + "+"
                                + results.of("two").log()))
                        .build());
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[x, y]+[z]");
        assertThat(done).containsExactlyInAnyOrder("x", "z", "y").containsSubsequence("x", "y");
    }

    @Test
    void steps_of_branches_run_at_once(TestSchema schema) throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .parallel(
                                "both",
                                Branch.branch(
                                        "one",
                                        chain -> chain.step("x")
                                                .call((trip, step) -> meet(both, trip, "x"))
                                                .noCompensation()
                                                .step("y")
                                                .call((trip, step) -> deed(trip, "y"))
                                                .noCompensation()),
                                Branch.branch(
                                        "two",
                                        chain -> chain.step("z")
                                                .call((trip, step) -> meet(both, trip, "z"))
                                                .noCompensation()))
                        .join((trip, results) -> trip.plus(results.of("one").log() + "+"
                                + results.of("two").log()))
                        .build());
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[x, y]+[z]");
    }

    private Trip meet(CyclicBarrier barrier, Trip trip, String what) throws Exception {
        barrier.await(30, TimeUnit.SECONDS);
        return deed(trip, what);
    }

    @Test
    void when_a_branch_fails_what_runs_beside_is_waited_for_and_undone(TestSchema schema) throws Exception {
        CountDownLatch failed = new CountDownLatch(1);
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .parallel(
                                "both",
                                Branch.branch(
                                        "one",
                                        chain -> chain.step("x")
                                                .call((trip, step) -> {
                                                    failed.await(30, TimeUnit.SECONDS);
                                                    return deed(trip, "x");
                                                })
                                                .compensate((trip, step) -> done.add("undo x " + trip.log()))
                                                .step("never")
                                                .call((trip, step) -> deed(trip, "never"))
                                                .noCompensation()),
                                Branch.branch(
                                        "two",
                                        chain -> chain.step("z")
                                                .call((trip, step) -> {
                                                    throw new PermanentFailure("no");
                                                })
                                                .noCompensation()))
                        .join((trip, results) -> trip)
                        .build());
        scene.await("1", SagaStatus.COMPENSATING);
        failed.countDown();
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("x", "undo x [x]");
    }

    @Test
    void a_step_of_a_branch_that_takes_too_long_is_tried_again_when_the_lease_would_have_ended(TestSchema schema)
            throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .parallel(
                                "both",
                                Branch.branch(
                                        "one",
                                        chain -> chain.step("x")
                                                .call((trip, step) -> {
                                                    if (step.attempt() == 1) {
                                                        new CountDownLatch(1).await();
                                                    }
                                                    return deed(trip, "x");
                                                })
                                                .noCompensation()
                                                .timeout(Duration.ofMillis(100))
                                                .retry(fixed(Duration.ZERO))),
                                Branch.branch(
                                        "two",
                                        chain -> chain.step("z")
                                                .call((trip, step) -> deed(trip, "z"))
                                                .noCompensation()))
                        .join((trip, results) -> trip)
                        .build());
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(done).containsExactly("z", "x");
        assertThat(scene.one("SELECT attempts || ' ' || unanswered FROM rowlock_saga_step WHERE step = 'x'"))
                .isEqualTo("2 true");
    }

    @Test
    void a_parent_goes_on_when_its_child_has_completed_and_back_when_it_was_undone(TestSchema schema) throws Exception {
        SagaDefinition<Trip> child = saga -> saga.named("child", Trip.class)
                .version(1)
                .step("c")
                .call((trip, step) -> {
                    if (trip.name().equals("bad")) {
                        throw new PermanentFailure("bad");
                    }
                    return deed(trip, "c");
                })
                .compensate((trip, step) -> done.add("undo c"))
                .build();
        scene = new SagaScene(schema, parent(), child);
        scene.start();
        scene.begin(TRIP, "1", Trip.to("good"));
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(state("1")).contains("[\"a\",\"child [c]\"]");
        scene.begin(TRIP, "2", Trip.to("bad"));
        scene.await("2", SagaStatus.COMPENSATED);
        assertThat(scene.status("2/sub")).isEqualTo("compensated");
        assertThat(done).containsExactly("a", "c", "a", "undo a");
    }

    private SagaDefinition<Trip> parent() {
        return saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> deed(trip, "a"))
                .compensate((trip, step) -> done.add("undo a"))
                .child("sub", CHILD)
                .startedWith(trip -> Trip.to(trip.name()))
                .completed((trip, sub) -> trip.plus("child " + sub.log()))
                .noCompensation()
                .build();
    }

    @Test
    void a_cancel_before_the_pivot_undoes_what_is_done(TestSchema schema) throws Exception {
        run(
                schema,
                saga -> saga.named("trip", Trip.class)
                        .version(1)
                        .step("a")
                        .call((trip, step) -> deed(trip, "a"))
                        .compensate((trip, step) -> done.add("undo a"))
                        .await(PAID, (trip, sum) -> trip)
                        .within(Duration.ofDays(1))
                        .otherwise(Escalation.escalate())
                        .build());
        scene.awaitStep("1", "paid", "waiting");
        assertThat(scene.sagas().cancel("1", new By("ann", "changed her mind"))).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.one("SELECT reason FROM rowlock_saga")).contains("ann: changed her mind");
        assertThat(done).containsExactly("a", "undo a");
    }

    private void run(TestSchema schema, SagaDefinition<Trip> definition) throws Exception {
        scene = new SagaScene(schema, definition);
        scene.start();
        assertThat(scene.begin(TRIP, "1", Trip.to("rome")).duplicate()).isFalse();
        assertThat(Saga.of(definition).name()).isEqualTo("trip");
    }
}
