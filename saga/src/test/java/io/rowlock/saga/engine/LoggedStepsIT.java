package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;

/** What log lines say of the saga and the step at work on their thread. */
@PostgresTest
final class LoggedStepsIT {
    private static final SagaType<String> TYPE = SagaType.named("logs", String.class);

    private final Map<String, Map<String, String>> seen = new ConcurrentHashMap<>();

    /** That of the simple logger keeps nothing. */
    @BeforeAll
    static void keepKeys() throws ReflectiveOperationException {
        Field adapter = MDC.class.getDeclaredField("MDC_ADAPTER");
        adapter.setAccessible(true);
        adapter.set(null, new BasicMDCAdapter());
    }

    private String see(String where) {
        Map<String, String> keys = MDC.getCopyOfContextMap();
        seen.put(where, keys == null ? Map.of() : new HashMap<>(keys));
        return where;
    }

    @Test
    void steps_branches_and_compensations_are_named_and_only_while_they_run(TestSchema schema) throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("logs", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> see("a"))
                .compensate((state, step) -> see("undo a"))
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.step("x")
                                        .call((state, step) -> see("x"))
                                        .noCompensation()),
                        Branch.branch(
                                "two",
                                chain -> chain.step("y")
                                        .call((state, step) -> see("y"))
                                        .noCompensation()))
                .join((state, results) -> see("join"))
                .step("z")
                .call((state, step) -> {
                    see("z");
                    throw new PermanentFailure("no");
                })
                .noCompensation()
                .build();
        try (SagaScene scene = new SagaScene(schema, definition)) {
            scene.start();
            scene.begin(TYPE, "1", "");
            scene.await("1", SagaStatus.COMPENSATED);
        }

        Map.of("a", "a", "x", "x", "y", "y", "z", "z", "undo a", "a")
                .forEach((where, step) -> assertThat(seen.get(where))
                        .as(where)
                        .containsEntry("rowlock.step", step)
                        .containsEntry("rowlock.saga", "1")
                        .containsEntry("rowlock.saga.name", "logs")
                        .containsKeys("rowlock.job", "rowlock.attempt", "rowlock.worker"));
        assertThat(seen.get("join")).containsEntry("rowlock.saga", "1").doesNotContainKey("rowlock.step");
    }
}
