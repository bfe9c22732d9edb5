package io.rowlock.saga;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.TransactionRunner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a definition without mistakes becomes. */
class SagaTest {
    private final Saga<Order> saga = Saga.of(SampleSagas::fulfilment);

    @Test
    void the_head_is_as_defined() {
        assertThat(saga.name()).isEqualTo("order-fulfilment");
        assertThat(saga.version()).isEqualTo(3);
        assertThat(saga.stateType()).isEqualTo(Order.class);
        assertThat(saga.type()).isEqualTo(SagaType.named("order-fulfilment", Order.class));
        assertThat(saga.businessKey().orElseThrow().apply(Order.of("42"))).isEqualTo("Order:42");
        assertThat(saga.deadline()).contains(Duration.ofDays(30));
        assertThat(saga.starters())
                .singleElement()
                .satisfies(starter -> assertThat(starter.kind()).isEqualTo(JobKind.of(Order.Placed.class)));
        assertThat(saga.upcasts()).singleElement().satisfies(upcast -> {
            assertThat(upcast.fromVersion()).isEqualTo(2);
            assertThat(upcast.stateType()).isEqualTo(Order.Old.class);
        });
        assertThat(saga).hasToString("Saga order-fulfilment version 3");
    }

    @Test
    void the_main_line_is_in_the_order_written() {
        assertThat(saga.nodes())
                .extracting(SagaNode::name)
                .containsExactly(
                        "reserve-stock",
                        "charge-card",
                        "count-order",
                        "pack",
                        "carrier",
                        "book-shipment",
                        "write-invoice",
                        "delivered",
                        "rest",
                        "aftercare",
                        "answer");
    }

    @Test
    void options_of_a_step_are_kept() {
        SagaNode.Step<Order> charge = step("charge-card");
        assertThat(charge.work()).isInstanceOf(StepWork.Called.class);
        assertThat(charge.pivot()).isFalse();
        assertThat(charge.retry().maxAttempts()).isEqualTo(5);
        assertThat(charge.timeout()).isEqualTo(Duration.ofSeconds(20));
        assertThat(charge.compensation().onlyWhenCompleted()).isTrue();
        assertThat(charge.compensation().retry().maxAttempts()).isEqualTo(50);
    }

    @Test
    void options_that_were_not_given_have_defaults() {
        SagaNode.Step<Order> reserve = step("reserve-stock");
        assertThat(reserve.retry().maxAttempts())
                .isEqualTo(RetryPolicy.standard().maxAttempts());
        assertThat(reserve.timeout()).isNull();
        assertThat(reserve.compensation().onlyWhenCompleted()).isFalse();
    }

    @Test
    void the_pivot_and_what_follows_have_no_compensation() {
        assertThat(step("book-shipment").pivot()).isTrue();
        assertThat(step("book-shipment").compensation()).isNull();
        assertThat(step("write-invoice").compensation()).isNull();
        assertThat(step("call-courier").compensation()).isNull();
    }

    @Test
    void branches_are_paths_with_their_nodes() {
        SagaNode<Order> aftercare = saga.node("aftercare").orElseThrow();
        assertThat(aftercare.paths()).extracting(SagaNode.Path::name).containsExactly("thank", "survey");
        assertThat(aftercare.paths().get(1).nodes())
                .extracting(SagaNode::name)
                .containsExactly("wait-a-little", "send-survey");
        SagaNode.Choose<Order> carrier =
                (SagaNode.Choose<Order>) saga.node("carrier").orElseThrow();
        assertThat(carrier.options()).singleElement().satisfies(option -> {
            assertThat(option.path().name()).isEqualTo("express");
            assertThat(option.when().test(new Order("42", "", true))).isTrue();
        });
        assertThat(carrier.otherwise().nodes()).isEmpty();
    }

    @Test
    void a_step_may_work_through_what_a_framework_gives() {
        TransactionRunner<StringBuilder> runner = work -> work.handle(new StringBuilder());
        Saga<Order> built = SampleSagas.begin()
                .step("a")
                .transactional(runner, (order, step, text) -> order.with(text.toString()))
                .compensateTransactionally(runner, (order, step, text) -> text.append("undone"))
                .build();
        SagaNode.Step<Order> a = (SagaNode.Step<Order>) built.nodes().get(0);
        assertThat(a.work()).isInstanceOf(StepWork.Transactional.class);
        assertThat(a.compensation().work()).isInstanceOf(Compensation.Transactional.class);
    }

    @Test
    void what_is_added_after_build_changes_nothing() {
        SagaSteps<Order> chain = SampleSagas.begin().sleep("a", Duration.ofDays(1));
        Saga<Order> built = chain.build();
        chain.sleep("b", Duration.ofDays(1));
        assertThat(built.nodes()).extracting(SagaNode::name).containsExactly("a");
    }

    @Test
    void an_unknown_name_finds_nothing() {
        assertThat(saga.node("reserve")).isEmpty();
    }

    @Test
    void a_definition_must_return_a_saga() {
        assertThatThrownBy(() -> Saga.<Order>of(builder -> null))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("returned no saga");
        assertThatThrownBy(() -> Saga.<Order>of(null)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void signals_and_types_refuse_bad_names_and_types() {
        for (String name : new String[] {null, " ", "x".repeat(201), "a\nb", "a\uD800"}) {
            assertThatThrownBy(() -> SagaSignal.named(name, Order.class))
                    .as("%s", name)
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("The name of a signal must");
            assertThatThrownBy(() -> SagaType.named(name, Order.class)).isInstanceOf(InvalidUseException.class);
        }
        assertThatThrownBy(() -> SagaSignal.named("a", null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> SagaType.named("a", null)).isInstanceOf(InvalidUseException.class);
        assertThat(SagaSignal.named("\uD83D\uDE80".repeat(200), Order.class).name())
                .hasSize(400);
    }

    @Test
    void a_continuation_needs_a_function() {
        assertThatThrownBy(() -> Escalation.continueWith(null)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void results_of_branches_are_found_by_name() {
        BranchResults<String> results = new BranchResults<>(Map.of("a", "x"));
        assertThat(results.of("a")).isEqualTo("x");
        assertThat(results.all()).isUnmodifiable().containsExactly(Map.entry("a", "x"));
        assertThatThrownBy(() -> results.of("b"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("[a]");
    }

    @Test
    void lists_cannot_be_changed() {
        for (List<?> list : List.of(
                saga.nodes(),
                saga.starters(),
                saga.upcasts(),
                saga.node("aftercare").orElseThrow().paths())) {
            assertThat(list).isUnmodifiable();
        }
    }

    private SagaNode.Step<Order> step(String name) {
        return (SagaNode.Step<Order>) saga.node(name).orElseThrow();
    }
}
