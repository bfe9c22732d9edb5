package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.InvalidSagaException;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStart;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where nothing says how a step is undone, nobody guesses, and nothing before it is undone out of turn. */
@PostgresTest
@Tag("B08")
final class MissingCompensationIT {
    private static final SagaType<String> TYPE = SagaType.named("missing", String.class);
    private static final By ANN = new By("ann", "it is there again");

    private final List<String> undone = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    /** Three steps, the last of which fails; the second one only if it is there. */
    private SagaDefinition<String> steps(boolean second) {
        return saga -> {
            SagaStart<String> begun = saga.named("missing", String.class).version(1);
            SagaSteps<String> chain =
                    begun.step("a").call((state, step) -> state).compensate((state, step) -> undone.add("a"));
            if (second) {
                chain = chain.step("b")
                        .call((state, step) -> state)
                        .compensate((state, step) -> {
                            if (broken.get()) {
                                throw new IllegalStateException("broken");
                            }
                            undone.add("b");
                        })
                        .retryCompensation(fixed(Duration.ofHours(1)));
            }
            return chain.step("c")
                    .call((state, step) -> {
                        throw new PermanentFailure("no");
                    })
                    .noCompensation()
                    .build();
        };
    }

    @Test
    void a_saga_that_does_not_say_how_a_step_is_undone_is_not_registered(TestSchema schema) {
        SagaDefinition<String> silent = saga -> saga.named("missing", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> state)
                .build();
        assertThatThrownBy(() -> new SagaScene(schema, silent))
                .isInstanceOf(InvalidSagaException.class)
                .hasMessageContaining("step \"a\" has no compensation");
    }

    @Test
    @Tag("P8")
    void a_saga_whose_definition_lost_a_step_on_the_way_back_waits_until_it_is_there_again(TestSchema schema)
            throws Exception {
        try (SagaScene whole = new SagaScene(schema, steps(true))) {
            whole.start();
            whole.begin(TYPE, "1", "x");
            SagaScene.await(() -> whole.one("SELECT (due_at IS NOT NULL)::text FROM rowlock_saga_step WHERE step = 'b'")
                    .equals("true"));
            whole.stopAll();
        }
        try (SagaScene without = new SagaScene(schema, false, steps(false))) {
            without.start();
            without.operations().hurry("1", ANN);
            SagaScene.await(() -> without.one("SELECT cause FROM rowlock_alert").equals("saga unknown step"));
            assertThat(without.status("1")).isEqualTo("compensating");
            assertThat(undone).isEmpty();
        }
        broken.set(false);
        try (SagaScene again = new SagaScene(schema, false, steps(true))) {
            again.start();
            SagaScene.await(() -> {
                again.operations().hurry("1", ANN);
                return again.status("1").equals("compensated");
            });
            assertThat(undone).containsExactly("b", "a");
        }
    }
}
