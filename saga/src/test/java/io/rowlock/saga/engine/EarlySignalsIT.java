package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.saga.Branch;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signals that were sent in time count, though they were not brought, or not read, in time. */
@PostgresTest
@Tag("P2")
final class EarlySignalsIT {
    private static final SagaType<String> TYPE = SagaType.named("waits", String.class);
    private static final SagaSignal<String> PAID = SagaSignal.named("paid", String.class);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private SagaScene scene;

    @AfterEach
    void end() {
        goOn.countDown();
        scene.close();
    }

    private static SagaDefinition<String> waits(Duration within) {
        return saga -> saga.named("waits", String.class)
                .version(1)
                .businessKey(state -> state)
                .await(PAID, (state, paid) -> state + paid)
                .within(within)
                .otherwise(Escalation.fail())
                .build();
    }

    @Test
    void one_that_was_sent_within_the_time_and_not_brought_by_any_worker(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, waits(Duration.ofDays(1)));
        scene.start();
        scene.begin(TYPE, "1", "k");
        scene.awaitStep("1", "paid", "waiting");
        scene.stopAll();
        scene.signal(PAID, SagaTarget.saga("1"), "x");
        schema.execute("UPDATE rowlock_saga_step SET due_at = clock_timestamp()");
        schema.execute("UPDATE rowlock_job SET run_at = clock_timestamp() WHERE kind LIKE 'saga/%'");
        schema.execute("UPDATE rowlock_job SET run_at = clock_timestamp() + interval '1 hour', attempts = 9"
                + " WHERE kind = 'rowlock-saga-wish'"); // its turn comes later than the driver's
        scene.start();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"kx\"");
    }

    @Test
    void one_that_was_sent_long_before_the_saga_began(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, waits(Duration.ofDays(1)));
        scene.start();
        scene.signal(PAID, SagaTarget.businessKey("k"), "x");
        SagaScene.await(() -> schema.update("UPDATE rowlock_job SET run_at = clock_timestamp() + interval '1 hour'"
                        + " WHERE kind = 'rowlock-saga-wish' AND attempts > 0 AND locked_by IS NULL")
                == 1);
        scene.begin(TYPE, "1", "k");
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"kx\"");
    }

    @Test
    void one_that_came_while_a_branch_beside_was_at_work(TestSchema schema) throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("waits", String.class)
                .version(1)
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.await(PAID, (state, paid) -> state + paid)
                                        .within(Duration.ofDays(1))
                                        .otherwise(Escalation.fail())),
                        Branch.branch(
                                "two",
                                chain -> chain.step("slow")
                                        .call((state, step) -> {
                                            begun.countDown();
                                            goOn.await();
                                            return state;
                                        })
                                        .noCompensation()))
                .join((state, results) -> results.of("one"))
                .build();
        scene = new SagaScene(schema, definition);
        scene.start();
        scene.begin(TYPE, "1", "k");
        begun.await();
        schema.execute("UPDATE rowlock_saga_step SET due_at = clock_timestamp() WHERE step = 'paid'");
        scene.signal(PAID, SagaTarget.saga("1"), "x");
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_saga_signal") == 1);
        goOn.countDown();
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"kx\"");
    }
}
