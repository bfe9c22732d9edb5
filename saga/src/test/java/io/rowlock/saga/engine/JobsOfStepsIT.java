package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.JobKind;
import io.rowlock.saga.Branch;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import org.junit.jupiter.api.Test;

/** Jobs that steps write. */
@PostgresTest
final class JobsOfStepsIT {
    private static final SagaType<String> TYPE = SagaType.named("writes", String.class);
    private static final JobKind<String> MAIL = JobKind.named("mail", String.class);

    private SagaScene scene;

    private String mail(String state) throws Exception {
        return scene.inTransaction(connection -> {
            scene.rowlock().outbox().enqueue(connection, MAIL, state, job -> {});
            return state;
        });
    }

    @Test
    void they_know_the_driver_as_their_cause_on_threads_of_branches_too(TestSchema schema) throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("writes", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> mail("a"))
                .noCompensation()
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.step("x")
                                        .call((state, step) -> mail("x"))
                                        .noCompensation()),
                        Branch.branch(
                                "two",
                                chain -> chain.step("y")
                                        .call((state, step) -> mail("y"))
                                        .noCompensation()))
                .join((state, results) -> state)
                .build();
        scene = new SagaScene(schema, definition);
        try {
            scene.start();
            scene.begin(TYPE, "1", "");
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(schema.list(
                            String.class,
                            "SELECT payload #>> '{}' || ' ' || (headers ->> 'rowlock-cause' LIKE 'saga/writes/1/%')"
                                    + " FROM rowlock_job WHERE kind = 'mail' ORDER BY 1"))
                    .containsExactly("a true", "x true", "y true");
        } finally {
            scene.close();
        }
    }
}
