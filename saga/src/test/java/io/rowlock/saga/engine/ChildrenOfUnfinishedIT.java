package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a child ended with is there until its parent, which is stuck in another branch, has read it. */
@PostgresTest
final class ChildrenOfUnfinishedIT {
    private static final SagaType<String> PARENT = SagaType.named("parent", String.class);
    private static final SagaType<String> CHILD = SagaType.named("child", String.class);
    private static final By ME = new By("ann", "test");

    private final AtomicBoolean broken = new AtomicBoolean(true);

    private SagaDefinition<String> parent() {
        return saga -> saga.named("parent", String.class)
                .version(1)
                .businessKey(state -> "key")
                .pivot("p")
                .call((state, step) -> state)
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.step("a").call((state, step) -> {
                                    if (broken.get()) {
                                        throw new PermanentFailure("no");
                                    }
                                    return state;
                                })),
                        Branch.branch(
                                "two",
                                chain -> chain.child("sub", CHILD)
                                        .startedWith(state -> state)
                                        .completed((state, child) -> state + " and " + child)))
                .join((state, results) -> results.of("two"))
                .build();
    }

    private static SagaDefinition<String> child() {
        return saga -> saga.named("child", String.class)
                .version(1)
                .step("b")
                .call((state, step) -> "important")
                .noCompensation()
                .build();
    }

    private SagaScene stuck(TestSchema schema) throws Exception {
        SagaScene scene = new SagaScene(schema, parent(), child());
        scene.start();
        scene.begin(PARENT, "1", "first");
        scene.await("1", SagaStatus.STUCK);
        if (scene.status("1/sub").equals("none")) { // a ended before the child was to begin
            assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
            scene.await("1", SagaStatus.STUCK);
        }
        scene.await("1/sub", SagaStatus.COMPLETED);
        return scene;
    }

    @Test
    @Tag("P2")
    @Tag("B17")
    void a_finished_child_is_kept_past_its_retention_until_its_parent_is_finished(TestSchema schema) throws Exception {
        try (SagaScene scene = stuck(schema)) {
            scene.begin(CHILD, "alone", "x");
            scene.await("alone", SagaStatus.COMPLETED);
            schema.execute("UPDATE rowlock_saga SET finished_at = finished_at - interval '40 days'"
                    + " WHERE finished_at IS NOT NULL");
            scene.start(); // looks at once
            SagaScene.await(() -> scene.status("alone").equals("none"));
            assertThat(scene.status("1/sub")).isEqualTo("completed");
            broken.set(false);
            assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga WHERE id = '1'"))
                    .isEqualTo("\"first and important\"");
            scene.start();
            SagaScene.await(() -> scene.status("1/sub").equals("none"));
        }
    }

    @Test
    void a_finished_child_is_redacted_once_its_parent_is_finished(TestSchema schema) throws Exception {
        try (SagaScene scene = stuck(schema)) {
            assertThat(scene.operations().redact("key", ME)).isEqualTo(new SagaRedaction(0, 2, 0));
            broken.set(false);
            assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga WHERE id = '1'"))
                    .isEqualTo("\"first and important\"");
            assertThat(scene.operations().redact("key", ME)).isEqualTo(new SagaRedaction(2, 0, 0));
            assertThat(schema.list(String.class, "SELECT state::text FROM rowlock_saga"))
                    .containsOnly("{}");
        }
    }
}
