package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Choice;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Definitions that were changed under the same version while sagas had begun: nobody guesses. */
@PostgresTest
final class ChangedDefinitionsIT {
    private static final SagaType<String> TYPE = SagaType.named("changed", String.class);
    private static final SagaSignal<String> GO = SagaSignal.named("go", String.class);

    /** What follows step a. */
    private interface Rest extends Function<SagaSteps<String>, SagaSteps<String>> {}

    private static SagaDefinition<String> definition(Rest rest) {
        return saga -> rest.apply(saga.named("changed", String.class)
                        .version(1)
                        .step("a")
                        .call((state, step) -> state)
                        .noCompensation())
                .build();
    }

    private static Branch<String> waits(String name) {
        return Branch.branch(
                name,
                chain -> chain.await(GO, (state, go) -> go)
                        .within(Duration.ofDays(1))
                        .otherwise(Escalation.fail()));
    }

    private static Branch<String> more(String name) {
        return Branch.branch(
                name,
                chain -> chain.step("step-" + name).call((state, step) -> state).noCompensation());
    }

    private static Rest parallel(String name, Branch<String> one, Branch<String> two) {
        return line -> line.parallel(name, one, two).join((state, results) -> state);
    }

    private static Rest parallel(String name, Branch<String> one, Branch<String> two, Branch<String> three) {
        return line -> line.parallel(name, one, two, three).join((state, results) -> state);
    }

    private static Rest choice(String option) {
        return line -> line.choose(
                "way",
                Choice.when(
                        option,
                        state -> true,
                        chain -> chain.await(GO, (state, go) -> go)
                                .within(Duration.ofDays(1))
                                .otherwise(Escalation.fail())),
                Choice.otherwise());
    }

    private static SagaSteps<String> wait(SagaSteps<String> line) {
        return line.await("go", GO, (state, go) -> go)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail());
    }

    private static SagaSteps<String> step(SagaSteps<String> line) {
        return line.step("go").call((state, step) -> state).noCompensation();
    }

    static Stream<Arguments> changes() {
        return Stream.of(
                Arguments.of(
                        "branch renamed",
                        parallel("p", waits("one"), more("two")),
                        parallel("p", waits("other"), more("two")),
                        "branch one of p"),
                Arguments.of(
                        "branch added",
                        parallel("p", waits("one"), more("two")),
                        parallel("p", waits("one"), more("two"), more("three")),
                        "p without branch three"),
                Arguments.of("option renamed", choice("left"), choice("lefty"), "option left of way"),
                Arguments.of(
                        "a step where it waited",
                        (Rest) ChangedDefinitionsIT::wait,
                        (Rest) ChangedDefinitionsIT::step,
                        "go as something that waits"),
                Arguments.of(
                        "parallel where it waited",
                        (Rest) ChangedDefinitionsIT::wait,
                        parallel("go", more("one"), more("two")),
                        "go without branch one"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changes")
    void what_has_begun_otherwise_waits_with_an_alert(
            String change, Rest before, Rest after, String unknown, TestSchema schema) throws Exception {
        try (SagaScene old = new SagaScene(schema, definition(before))) {
            old.start();
            old.begin(TYPE, "1", "x");
            old.awaitStep("1", "go", "waiting");
            old.stopAll();
            try (SagaScene changed = new SagaScene(schema, false, definition(after))) {
                changed.start();
                changed.signal(GO, SagaTarget.saga("1"), "y");
                SagaScene.await(
                        () -> changed.one("SELECT cause FROM rowlock_alert").equals("saga unknown step"));
                assertThat(changed.one("SELECT reason FROM rowlock_alert")).contains(unknown);
                assertThat(changed.status("1")).isEqualTo("running");
                assertThat(changed.step("1", "go")).isEqualTo("waiting");
            }
            old.start();
            schema.execute("UPDATE rowlock_job SET run_at = clock_timestamp() WHERE state = 'ready'");
            old.await("1", SagaStatus.COMPLETED);
        }
    }

    @Test
    void a_signal_whose_state_cannot_be_recorded_moves_its_wait_when_that_is_mended(TestSchema schema)
            throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        SagaDefinition<String> definition = saga -> saga.named("changed", String.class)
                .version(1)
                .pivot("p")
                .call((state, step) -> state)
                .await(GO, (state, go) -> broken.get() ? null : go)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.escalate())
                .build();
        try (SagaScene scene = new SagaScene(schema, definition)) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.signal(GO, SagaTarget.saga("1"), "y");
            scene.await("1", SagaStatus.STUCK);
            broken.set(false);
            assertThat(scene.operations().retry("1", new By("ann", "mended"))).isEqualTo(SagaAnswer.DONE);
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"y\"");
        }
    }
}
