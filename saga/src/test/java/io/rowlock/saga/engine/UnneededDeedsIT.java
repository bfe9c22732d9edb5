package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do though nobody needs it, or twice: the answer says so, and no row says that it was done. */
@PostgresTest
final class UnneededDeedsIT {
    private static final SagaType<String> TYPE = SagaType.named("unneeded", String.class);
    private static final SagaSignal<String> GO = SagaSignal.named("go", String.class);
    private static final By ANN = new By("ann", "test");

    private static List<String> operations(SagaScene scene) throws Exception {
        return scene.schema().list(String.class, "SELECT what || ' ' || who FROM rowlock_operation ORDER BY id");
    }

    @Test
    @Tag("P7")
    void a_step_that_merely_waits_while_another_has_failed_is_not_skipped(TestSchema schema) throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("unneeded", String.class)
                .version(1)
                .pivot("p")
                .call((state, step) -> state)
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.step("a").call((state, step) -> {
                                    throw new PermanentFailure("no");
                                })),
                        Branch.branch(
                                "two",
                                chain -> chain.await(GO, (state, go) -> state + go)
                                        .within(Duration.ofDays(1))
                                        .otherwise(Escalation.escalate())))
                .join((state, results) -> results.of("two"))
                .build();
        try (SagaScene scene = new SagaScene(schema, definition)) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.STUCK);
            assertThat(scene.step("1", "go")).isEqualTo("waiting");
            assertThat(scene.operations().skip("1", "go", ANN)).isEqualTo(SagaAnswer.WRONG_STEP);
            assertThat(scene.operations().resolve("1", "go", "y", ANN)).isEqualTo(SagaAnswer.WRONG_STEP);
            assertThat(scene.operations().skip("1", "both", ANN)).isEqualTo(SagaAnswer.WRONG_STEP);
            assertThat(operations(scene)).isEmpty();
            assertThat(scene.operations().skip("1", "a", ANN)).isEqualTo(SagaAnswer.DONE);
            scene.signal(GO, SagaTarget.saga("1"), "z");
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"xz\"");
        }
    }

    private static SagaDefinition<String> awaits() {
        return saga -> saga.named("unneeded", String.class)
                .version(1)
                .await(GO, (state, go) -> go)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail())
                .build();
    }

    @Test
    @Tag("P7")
    void a_saga_that_waits_for_a_signal_alone_is_not_hurried(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, awaits())) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.awaitStep("1", "go", "waiting");
            assertThat(scene.operations().hurry("1", ANN)).isEqualTo(SagaAnswer.HEALTHY);
            assertThat(operations(scene)).isEmpty();
        }
    }

    @Test
    @Tag("P7")
    void a_saga_whose_driver_failed_itself_is_hurried_once(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, awaits())) {
            scene.begin(TYPE, "1", "x");
            schema.execute("UPDATE rowlock_job SET attempts = 3, run_at = clock_timestamp() + interval '1 hour'");
            assertThat(scene.operations().hurry("1", ANN)).isEqualTo(SagaAnswer.DONE);
            assertThat(scene.operations().hurry("1", ANN)).isEqualTo(SagaAnswer.HEALTHY);
            assertThat(operations(scene)).containsExactly("hurry ann");
        }
    }

    @Test
    @Tag("P7")
    void a_second_cancel_is_accepted_and_leaves_no_row(TestSchema schema) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        SagaDefinition<String> definition = saga -> saga.named("unneeded", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> {
                    begun.countDown();
                    goOn.await();
                    return state;
                })
                .noCompensation()
                .retry(fixed(Duration.ZERO))
                .build();
        try (SagaScene scene = new SagaScene(schema, definition)) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            begun.await();
            assertThat(scene.sagas().cancel("1", ANN)).isEqualTo(SagaCancellation.ACCEPTED);
            assertThat(scene.sagas().cancel("1", new By("bob", "test"))).isEqualTo(SagaCancellation.ACCEPTED);
            goOn.countDown();
            scene.await("1", SagaStatus.COMPENSATED);
            assertThat(operations(scene)).containsExactly("cancel ann");
            assertThat(scene.one("SELECT reason FROM rowlock_saga")).isEqualTo("cancelled: ann: test");
        }
    }

    @Test
    @Tag("P7")
    void a_child_goes_on_when_its_parent_is_resolved(TestSchema schema) throws Exception {
        SagaType<String> type = SagaType.named("child", String.class);
        SagaDefinition<String> parent = saga -> saga.named("unneeded", String.class)
                .version(1)
                .pivot("p")
                .call((state, step) -> state)
                .parallel(
                        "both",
                        Branch.branch(
                                "two",
                                chain -> chain.child("sub", type)
                                        .startedWith(state -> state)
                                        .completed((state, child) -> child)),
                        Branch.branch(
                                "one",
                                chain -> chain.step("a").call((state, step) -> {
                                    throw new PermanentFailure("no");
                                })))
                .join((state, results) -> state)
                .build();
        SagaDefinition<String> child = saga -> saga.named("child", String.class)
                .version(1)
                .await(GO, (state, go) -> go)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail())
                .build();
        try (SagaScene scene = new SagaScene(schema, parent, child)) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.STUCK);
            scene.awaitStep("1/sub", "go", "waiting");
            assertThat(scene.operations().resolveWhole("1", ANN)).isEqualTo(SagaAnswer.DONE);
            assertThat(scene.sagas().cancel("1/sub", ANN)).isEqualTo(SagaCancellation.ACCEPTED);
            scene.await("1/sub", SagaStatus.COMPENSATED);
            assertThat(scene.status("1")).isEqualTo("resolved");
        }
    }
}
