package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Children whose id or business key another saga has. */
@PostgresTest
final class ChildInTheWayIT {
    private static final SagaType<String> PARENT = SagaType.named("parent", String.class);
    private static final SagaType<String> CHILD = SagaType.named("child", String.class);
    private static final SagaType<String> OTHER = SagaType.named("other", String.class);
    private static final SagaSignal<String> GO = SagaSignal.named("go", String.class);

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private SagaScene scene;

    @AfterEach
    void end() {
        scene.close();
    }

    private void begin(TestSchema schema, boolean pivot) throws Exception {
        SagaDefinition<String> parent = saga -> {
            var first = saga.named("parent", String.class).version(1);
            var begun = pivot
                    ? first.pivot("a").call((state, step) -> state)
                    : first.step("a").call((state, step) -> state).compensate((state, step) -> done.add("undo a"));
            return begun.child("sub", CHILD)
                    .startedWith(state -> state)
                    .completed((state, sub) -> sub)
                    .noCompensation()
                    .build();
        };
        SagaDefinition<String> child = waiting("child");
        scene = new SagaScene(schema, parent, child, waiting("other"));
        scene.start();
    }

    private static SagaDefinition<String> waiting(String name) {
        return saga -> saga.named(name, String.class)
                .version(1)
                .businessKey(state -> state)
                .await("go", GO, (state, go) -> go)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail())
                .build();
    }

    @Test
    void a_business_key_that_is_held_fails_the_step_at_once_and_the_parent_is_undone(TestSchema schema)
            throws Exception {
        begin(schema, false);
        scene.begin(CHILD, "holder", "k");
        scene.begin(PARENT, "1", "k");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("undo a");
        assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE saga = '1' AND step = 'sub'"))
                .isEqualTo("the child cannot be started: its business key k is held by saga holder");
        assertThat(scene.status("holder")).isEqualTo("running");
    }

    @Test
    void behind_the_pivot_a_person_retries_it_when_the_key_is_free(TestSchema schema) throws Exception {
        begin(schema, true);
        scene.begin(CHILD, "holder", "k");
        scene.begin(PARENT, "1", "k");
        scene.await("1", SagaStatus.STUCK);
        scene.signal(GO, SagaTarget.saga("holder"), "x");
        scene.await("holder", SagaStatus.COMPLETED);
        assertThat(scene.operations().retry("1", new By("ann", "it is free"))).isEqualTo(SagaAnswer.DONE);
        scene.signal(GO, SagaTarget.saga("1/sub"), "y");
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.one("SELECT state::text FROM rowlock_saga WHERE id = '1'"))
                .isEqualTo("\"y\"");
    }

    @Test
    void an_id_that_a_saga_of_another_name_has_fails_the_step_and_leaves_that_one_alone(TestSchema schema)
            throws Exception {
        begin(schema, false);
        scene.begin(OTHER, "1/sub", "k");
        scene.begin(PARENT, "1", "k");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE saga = '1' AND step = 'sub'"))
                .contains("its id 1/sub is that of a saga other");
        assertThat(scene.status("1/sub")).isEqualTo("running");
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE cancel_reason IS NOT NULL"))
                .isZero();
    }

    @Test
    void a_saga_of_its_name_that_somebody_else_started_is_not_its_child(TestSchema schema) throws Exception {
        begin(schema, false);
        scene.begin(CHILD, "1/sub", "theirs");
        scene.begin(PARENT, "1", "k");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE saga = '1' AND step = 'sub'"))
                .contains("its id 1/sub is that of a saga which is not its parent's");
        assertThat(scene.status("1/sub")).isEqualTo("running");
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE cancel_reason IS NOT NULL"))
                .isZero();
    }
}
