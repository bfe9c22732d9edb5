package io.rowlock.saga;

import static io.rowlock.saga.Branch.branch;
import static io.rowlock.saga.Choice.otherwise;
import static io.rowlock.saga.Choice.when;
import static io.rowlock.saga.Escalation.fail;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.JobKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Drawings against the files beside this class. */
class MermaidTest {
    @Test
    void everything_a_definition_can_have_is_drawn() {
        assertDrawn(Saga.of(SampleSagas::fulfilment), "fulfilment.mmd");
    }

    @Test
    void names_are_escaped_wherever_they_stand() {
        String name = "end \"x\" <b>#35; `m` %%{init}%% style:#f;|]}) 家 \uD83D\uDE80";
        assertDrawn(
                new SagaBuilder<Order>()
                        .named(name, Order.class)
                        .version(1)
                        .startedBy(JobKind.named(name, String.class), Order::of)
                        .step(name)
                        .call((order, step) -> order)
                        .compensate((order, step) -> {})
                        .choose(
                                "1" + name,
                                when(
                                        name,
                                        Order::express,
                                        chain -> chain.child("2" + name, SagaType.named(name, Order.class))
                                                .startedWith(order -> order)
                                                .completed((order, end) -> end)
                                                .noCompensation()),
                                otherwise(chain -> chain.await("3" + name, Order.DELIVERED, (order, delivered) -> order)
                                        .within(Duration.ofMillis(1))
                                        .otherwise(fail())))
                        .build(),
                "names.mmd");
    }

    @Test
    void branches_in_branches_meet_again() {
        assertDrawn(
                SampleSagas.begin()
                        .parallel(
                                "p",
                                branch(
                                        "x",
                                        chain -> chain.choose(
                                                "q",
                                                when(
                                                        "y",
                                                        Order::express,
                                                        inner -> inner.sleepUntil("a", order -> Instant.MAX)),
                                                when("z", Order::express, inner -> inner),
                                                otherwise())),
                                branch("w", chain -> chain.sleep("b", Duration.ofSeconds(90))))
                        .join((order, results) -> order)
                        .build(),
                "branches.mmd");
    }

    @Test
    void a_run_is_drawn_in_the_colours_of_its_steps() {
        Saga<Order> saga = Saga.of(SampleSagas::fulfilment);
        String run = saga.toMermaid(Map.of(
                "reserve-stock", StepStatus.COMPENSATING,
                "charge-card", StepStatus.COMPENSATED,
                "count-order", StepStatus.FAILED,
                "no such step", StepStatus.STARTED));
        assertThat(run).startsWith(saga.toMermaid());
        assertThat(run.substring(saga.toMermaid().length()).lines().map(String::strip))
                .containsExactly(
                        "classDef failed fill:#ffc9c9",
                        "class n3 failed",
                        "classDef compensating fill:#ffe8cc",
                        "class n1,u1 compensating",
                        "classDef compensated fill:#e5dbff",
                        "class n2,u2 compensated");
    }

    @Test
    void two_drawings_of_one_definition_are_the_same() {
        assertThat(Saga.of(SampleSagas::fulfilment).toMermaid())
                .isEqualTo(Saga.of(SampleSagas::fulfilment).toMermaid());
    }

    private static void assertDrawn(Saga<?> saga, String file) {
        try (InputStream in = MermaidTest.class.getResourceAsStream(file)) {
            assertThat(in).as(file).isNotNull();
            assertThat(saga.toMermaid()).isEqualTo(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
