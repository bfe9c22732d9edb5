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
import org.junit.jupiter.api.Test;

/** Drawings against the files beside this class. */
class MermaidTest {
    @Test
    void everything_a_definition_can_have_is_drawn() {
        assertDrawn(Saga.of(Sagas::fulfilment), "fulfilment.mmd");
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
                Sagas.begin()
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
    void two_drawings_of_one_definition_are_the_same() {
        assertThat(Saga.of(Sagas::fulfilment).toMermaid())
                .isEqualTo(Saga.of(Sagas::fulfilment).toMermaid());
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
