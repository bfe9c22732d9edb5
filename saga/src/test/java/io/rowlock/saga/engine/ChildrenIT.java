package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of children whose parents fail, and of parents whose children were ended by hand. */
@PostgresTest
final class ChildrenIT {
    private static final SagaType<String> PARENT = SagaType.named("parent", String.class);
    private static final SagaType<String> CHILD = SagaType.named("child", String.class);
    private static final By ME = new By("ann", "looked at it");

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final AtomicBoolean broken = new AtomicBoolean(true);
    private SagaScene scene;

    @AfterEach
    void end() {
        scene.close();
    }

    private void run(TestSchema schema, boolean pivot, SagaDefinition<String> child) throws Exception {
        SagaDefinition<String> parent = saga -> {
            var first = saga.named("parent", String.class).version(1);
            var begun = pivot
                    ? first.pivot("a").call((state, step) -> state)
                    : first.step("a").call((state, step) -> state).compensate((state, step) -> done.add("undo a"));
            var answered = begun.child("sub", CHILD).startedWith(state -> state).completed((state, sub) -> {
                if (broken.get()) {
                    throw new AssertionError("broken");
                }
                return sub;
            });
            return pivot
                    ? answered.noCompensation().build()
                    : answered.compensate((state, step) -> done.add("undo child"))
                            .build();
        };
        scene = new SagaScene(schema, parent, child);
        scene.start();
        scene.begin(PARENT, "1", "s");
    }

    private SagaDefinition<String> charges() {
        return saga -> saga.named("child", String.class)
                .version(1)
                .step("charge")
                .call((state, step) -> {
                    done.add("charge");
                    return state + "c";
                })
                .noCompensation()
                .build();
    }

    @Test
    @Tag("P4")
    void one_that_is_done_is_undone_where_its_parent_cannot_take_its_answer(TestSchema schema) throws Exception {
        run(schema, false, charges());
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("charge", "undo child", "undo a");
    }

    @Test
    void one_that_ends_while_its_parent_is_undone_puts_what_it_did_into_the_state_first(TestSchema schema)
            throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        broken.set(false);
        run(
                schema,
                false,
                saga -> saga.named("child", String.class)
                        .version(1)
                        .pivot("pack")
                        .call((state, step) -> {
                            begun.countDown();
                            release.await();
                            return "box 7";
                        })
                        .build());
        begun.await();
        assertThat(scene.sagas().cancel("1", ME)).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATING);
        release.countDown();
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("undo child", "undo a");
        assertThat(scene.one("SELECT state::text FROM rowlock_saga WHERE id = '1'"))
                .isEqualTo("\"box 7\"");
    }

    @Test
    void the_end_of_one_whose_parent_is_gone_is_nobodys_concern(TestSchema schema) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        broken.set(false);
        run(
                schema,
                false,
                saga -> saga.named("child", String.class)
                        .version(1)
                        .pivot("pack")
                        .call((state, step) -> {
                            release.await();
                            return state;
                        })
                        .build());
        scene.awaitStep("1/sub", "pack", "started");
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE locked_by IS NOT NULL") == 1);
        schema.execute("DELETE FROM rowlock_saga WHERE id = '1'");
        release.countDown();
        scene.await("1/sub", SagaStatus.COMPLETED);
        SagaScene.await(() -> schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE kind = 'rowlock-saga-wish' AND state = 'completed'")
                == 1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    void a_retry_finds_the_one_that_has_ended(TestSchema schema) throws Exception {
        run(schema, true, charges());
        scene.await("1", SagaStatus.STUCK);
        broken.set(false);
        assertThat(scene.operations().retry("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(done).containsExactly("charge");
    }

    @Test
    void one_that_was_being_undone_and_is_ended_by_hand_counts_as_undone(TestSchema schema) throws Exception {
        broken.set(false);
        run(
                schema,
                false,
                saga -> saga.named("child", String.class)
                        .version(1)
                        .step("x")
                        .call((state, step) -> state)
                        .compensate((state, step) -> {
                            throw new PermanentFailure("cannot");
                        })
                        .step("y")
                        .call((state, step) -> {
                            throw new PermanentFailure("no");
                        })
                        .noCompensation()
                        .retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(1))
                        .build());
        scene.await("1/sub", SagaStatus.COMPENSATION_FAILED);
        assertThat(scene.operations().resolveWhole("1/sub", ME)).isEqualTo(SagaAnswer.DONE);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("undo a");
    }
}
