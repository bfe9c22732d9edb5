package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaOutcome;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What happens to a saga while a call of one of its branches still runs. */
@PostgresTest
final class BesideBranchesIT {
    private static final SagaType<String> TYPE = SagaType.named("beside", String.class);
    private static final SagaType<String> CHILD = SagaType.named("child", String.class);
    private static final SagaSignal<String> GO = SagaSignal.named("go", String.class);
    private static final By ANN = new By("ann", "test");

    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger slowCalls = new AtomicInteger();
    private SagaScene scene;

    @AfterEach
    void end() {
        release.countDown();
        scene.close();
    }

    private Branch<String> slow() {
        return Branch.branch(
                "slow",
                chain -> chain.step("slow").call((state, step) -> {
                    slowCalls.incrementAndGet();
                    release.await();
                    return state;
                }));
    }

    private Branch<String> slowBeforeThePivot() {
        return Branch.branch(
                "slow",
                chain -> chain.step("slow")
                        .call((state, step) -> {
                            slowCalls.incrementAndGet();
                            release.await();
                            return state;
                        })
                        .noCompensation());
    }

    private SagaDefinition<String> failing() {
        return saga -> saga.named("beside", String.class)
                .version(1)
                .pivot("p")
                .call((state, step) -> state)
                .parallel(
                        "both",
                        Branch.branch(
                                "fails",
                                chain -> chain.step("fails").call((state, step) -> {
                                    scene.awaitStep("1", "slow", "started");
                                    throw new PermanentFailure("no");
                                })),
                        slow())
                .join((state, results) -> state)
                .build();
    }

    @Test
    @Tag("P3")
    void a_saga_needs_a_person_only_when_the_calls_of_its_branches_have_ended(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, failing());
        scene.start();
        scene.begin(TYPE, "1", "x");
        scene.awaitStep("1", "fails", "failed");
        assertThat(scene.status("1")).isEqualTo("running");
        assertThat(scene.operations().retry("1", ANN)).isEqualTo(SagaAnswer.HEALTHY);
        assertThat(scene.operations().resolveWhole("1", ANN)).isEqualTo(SagaAnswer.HEALTHY);
        release.countDown();
        scene.await("1", SagaStatus.STUCK);
        assertThat(slowCalls).hasValue(1);
        SagaScene.await(() -> scene.events().stream().anyMatch(SagaOutcome.SagaStuck.class::isInstance));
        assertThat(scene.one("SELECT cause FROM rowlock_alert")).isEqualTo("saga stuck");
        assertThat(scene.one("SELECT reason FROM rowlock_saga")).startsWith("fails: ");
        assertThat(scene.one("SELECT step FROM rowlock_saga"))
                .as("though the other branch moved last")
                .isEqualTo("fails");
    }

    @Test
    @Tag("P2")
    void a_saga_whose_branch_has_failed_and_whose_driver_is_lost_needs_a_person_then(TestSchema schema)
            throws Exception {
        scene = new SagaScene(schema, failing());
        scene.start();
        scene.begin(TYPE, "1", "x");
        scene.awaitStep("1", "fails", "failed");
        schema.execute("UPDATE rowlock_job SET token = token + 1, locked_by = NULL, locked_until = NULL");
        scene.await("1", SagaStatus.STUCK);
        assertThat(slowCalls).hasValue(1);
        assertThat(scene.one("SELECT reason FROM rowlock_saga")).startsWith("fails: ");
    }

    @Test
    @Tag("P3")
    void a_driver_whose_saga_has_another_one_ends(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, failing());
        scene.start();
        scene.begin(TYPE, "1", "x");
        scene.awaitStep("1", "fails", "failed");
        schema.execute("UPDATE rowlock_saga SET driver = NULL, status = 'stuck'");
        release.countDown();
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'") == 0);
        assertThat(scene.step("1", "slow")).isEqualTo("started");
        assertThat(scene.operations().retry("1", ANN)).isEqualTo(SagaAnswer.DONE);
    }

    @Test
    void other_branches_go_on_by_signals_children_time_and_retries(TestSchema schema) throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("beside", String.class)
                .version(1)
                .parallel(
                        "all",
                        slowBeforeThePivot(),
                        Branch.branch(
                                "signal",
                                chain -> chain.await(GO, (state, go) -> go)
                                        .within(Duration.ofDays(1))
                                        .otherwise(Escalation.fail())
                                        .step("after-signal")
                                        .call((state, step) -> state)
                                        .noCompensation()),
                        Branch.branch(
                                "child",
                                chain -> chain.child("sub", CHILD)
                                        .startedWith(state -> state)
                                        .completed((state, sub) -> sub)
                                        .noCompensation()
                                        .step("after-child")
                                        .call((state, step) -> state)
                                        .noCompensation()),
                        Branch.branch(
                                "nap",
                                chain -> chain.sleep("nap", Duration.ofMillis(200))
                                        .step("after-nap")
                                        .call((state, step) -> {
                                            if (step.attempt() < 4) {
                                                throw new IllegalStateException("again");
                                            }
                                            return state;
                                        })
                                        .retry(fixed(Duration.ofMillis(50)).maxAttempts(9))
                                        .noCompensation()))
                .join((state, results) -> results.of("signal"))
                .build();
        SagaDefinition<String> child = saga -> saga.named("child", String.class)
                .version(1)
                .step("in-child")
                .call((state, step) -> state)
                .noCompensation()
                .build();
        scene = new SagaScene(schema, definition, child);
        scene.start();
        scene.begin(TYPE, "1", "x");
        scene.awaitStep("1", "slow", "started");
        scene.signal(GO, SagaTarget.saga("1"), "gone");
        scene.awaitStep("1", "after-signal", "completed");
        scene.awaitStep("1", "after-child", "completed");
        scene.awaitStep("1", "after-nap", "completed");
        assertThat(scene.step("1", "slow")).isEqualTo("started");
        release.countDown();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.one("SELECT state::text FROM rowlock_saga WHERE id = '1'"))
                .isEqualTo("\"gone\"");
        assertThat(slowCalls).hasValue(1);
    }
}
