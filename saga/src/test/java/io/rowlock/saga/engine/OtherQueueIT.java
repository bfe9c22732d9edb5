package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaFork.Outcome;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do through an engine of another queue, or of a tool that has none of the definitions. */
@PostgresTest
@Tag("P2")
final class OtherQueueIT {
    private static final SagaType<String> TYPE = SagaType.named("queued", String.class);
    private static final By ANN = new By("ann", "from elsewhere");

    private final AtomicBoolean broken = new AtomicBoolean(true);

    private SagaDefinition<String> definition(boolean pivot) {
        return saga -> {
            var first = saga.named("queued", String.class).version(1).step("a");
            var begun = first.call((state, step) -> state).compensate((state, step) -> {});
            var next = pivot ? begun.pivot("b") : begun.step("b");
            return next.call((state, step) -> {
                        if (broken.get()) {
                            throw new PermanentFailure("broken");
                        }
                        return state;
                    })
                    .build();
        };
    }

    private static SagaEngine tool(TestSchema schema) {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        return SagaEngine.withoutDefinitions(rowlock, "nobody-serves-this");
    }

    @Test
    void a_saga_goes_on_in_its_own_queue(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, definition(true))) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.STUCK);
            broken.set(false);
            assertThat(tool(schema).operations().retry("1", ANN)).isEqualTo(SagaAnswer.DONE);
            scene.await("1", SagaStatus.COMPLETED);
        }
    }

    @Test
    void a_fork_and_a_cancel_of_one_whose_driver_is_lost_go_there_too(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, definition(true))) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.STUCK);
            assertThat(scene.operations().resolveWhole("1", ANN)).isEqualTo(SagaAnswer.DONE);
            broken.set(false);
            SagaEngine other = SagaEngine.builder(scene.rowlock())
                    .queue("nobody-serves-this")
                    .register(definition(true))
                    .build();
            assertThat(other.operations().fork("1", "b", "2", ANN).outcome()).isEqualTo(Outcome.FORKED);
            scene.await("2", SagaStatus.COMPLETED);
            scene.begin(TYPE, "3", "x");
            scene.await("3", SagaStatus.COMPLETED);
            schema.execute(
                    "UPDATE rowlock_saga SET status = 'stuck', driver = NULL, pivoted = false, finished_at = NULL"
                            + " WHERE id = '3'");
            schema.execute("DELETE FROM rowlock_saga_step WHERE saga = '3' AND step = 'b'");
            assertThat(tool(schema).sagas().cancel("3", ANN)).isEqualTo(SagaCancellation.ACCEPTED);
            scene.await("3", SagaStatus.COMPENSATED);
        }
    }
}
