package io.rowlock.saga;

import static io.rowlock.saga.Branch.branch;
import static io.rowlock.saga.Choice.otherwise;
import static io.rowlock.saga.Choice.when;
import static io.rowlock.saga.Escalation.escalate;
import static io.rowlock.saga.Escalation.fail;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What {@code build()} refuses, in which words, and that it names everything at once. */
class MistakesTest {
    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void all_mistakes_are_named_at_once() {
        SagaSteps<Order> chain = new SagaBuilder<Order>()
                .named(" ", Order.class)
                .version(0)
                .step("a")
                .call(null)
                .step("a")
                .call((order, step) -> order)
                .timeout(Duration.ofDays(8));
        InvalidSagaException error = catchThrowableOfType(InvalidSagaException.class, chain::build);
        assertThat(error.saga()).isEqualTo(" ");
        assertThat(error.mistakes())
                .containsExactly(
                        "the saga has a wrong name: it must not be blank",
                        "the version must be between 1 and 1000000, got 0",
                        "step \"a\" has null for its work: give one",
                        "step \"a\" has no compensation: add compensate(...), or noCompensation() if there is nothing to"
                                + " undo",
                        "step \"a\" has a wrong timeout: it must be between 1 ms and 7 d, got PT192H",
                        "step \"a\" has no compensation: add compensate(...), or noCompensation() if there is nothing to"
                                + " undo",
                        "step \"a\" has a name that is used before: names are unique in the whole saga, branches"
                                + " included; rename one");
        assertThat(error).hasMessage("Saga \" \" cannot be built; put right: " + String.join("; ", error.mistakes()));
        assertThat(error.mistakes()).isUnmodifiable();
        assertThat(catchThrowableOfType(InvalidSagaException.class, chain::build)
                        .mistakes())
                .as("built again")
                .isEqualTo(error.mistakes());
    }

    @Test
    void names_have_1_to_200_storable_characters() {
        assertThat(mistakes(new SagaBuilder<Order>()
                        .named("x".repeat(201), Order.class)
                        .version(1)
                        .sleep("a", DAY)))
                .containsExactly("the saga has a wrong name: it must have at most 200 characters, got 201; shorten it");
        assertThat(mistakes(new SagaBuilder<Order>()
                        .named(null, Order.class)
                        .version(1)
                        .sleep("a", DAY)))
                .containsExactly("the saga has a wrong name: it must not be null");
        assertThat(mistakes(SampleSagas.begin().sleep("a\n", DAY)))
                .singleElement()
                .satisfies(text -> assertThat(text)
                        .endsWith("must have no control characters and no lone surrogates, got U+000A; remove it"));
        assertThat(mistakes(SampleSagas.begin().sleep("\uDE80", DAY)))
                .singleElement()
                .satisfies(text -> assertThat(text).contains("got U+DE80"));
        SampleSagas.begin().sleep("\uD83D\uDE80".repeat(200), DAY).build();
    }

    @Test
    void versions_are_1_to_a_million() {
        for (int version : new int[] {-1, 1_000_001}) {
            assertThat(mistakes(new SagaBuilder<Order>()
                            .named("s", Order.class)
                            .version(version)
                            .sleep("a", DAY)))
                    .containsExactly("the version must be between 1 and 1000000, got " + version);
        }
        new SagaBuilder<Order>()
                .named("s", Order.class)
                .version(1_000_000)
                .sleep("a", DAY)
                .build();
    }

    @Test
    void a_state_type_is_needed() {
        assertThat(mistakes(new SagaBuilder<Order>().named("s", null).version(1).sleep("a", DAY)))
                .containsExactly("the saga has no state type: give its class to named(name, type)");
    }

    @Test
    void a_saga_has_steps_and_at_most_a_thousand() {
        assertThat(mistakes(SampleSagas.begin())).containsExactly("the saga has no steps: add step(name)");
        SagaSteps<Order> chain = SampleSagas.begin();
        for (int i = 0; i < 1_000; i++) {
            chain.sleep("a" + i, DAY);
        }
        chain.build();
        assertThat(mistakes(chain.sleep("last", DAY)))
                .containsExactly("the saga has 1001 steps and other parts, more than 1000: give some to child sagas");
    }

    @Test
    void starters_are_kinds_each_once() {
        assertThat(mistakes(SampleSagas.begin()
                        .startedBy(Order.class, order -> order)
                        .startedBy(Order.Placed.class, placed -> Order.of(placed.id()))
                        .startedBy(JobKind.named("order-placed", String.class), Order::of)
                        .startedBy((JobKind<String>) null, Order::of)
                        .startedBy(Order.Placed.class, null)
                        .sleep("a", DAY)))
                .satisfiesExactly(
                        text -> assertThat(text)
                                .startsWith("startedBy: Payload type")
                                .contains("annotate it with @Kind"),
                        text -> assertThat(text)
                                .isEqualTo("the saga is started by kind \"order-placed\" twice: keep one of them"),
                        text -> assertThat(text).isEqualTo("startedBy has null for its kind: give one"),
                        text -> assertThat(text).isEqualTo("startedBy has null for its function: give one"));
    }

    @Test
    void the_head_has_each_thing_once_and_in_range() {
        assertThat(mistakes(SampleSagas.begin()
                        .businessKey(Order::id)
                        .businessKey(Order::id)
                        .deadline(Duration.ofNanos(1))
                        .deadline(DAY)
                        .sleep("a", DAY)))
                .containsExactly(
                        "the saga has businessKey twice: keep one of them",
                        "the deadline must be between 1 ms and 100 years, got PT0.000000001S",
                        "the saga has deadline twice: keep one of them");
        assertThat(mistakes(SampleSagas.begin().businessKey(null).deadline(null).sleep("a", DAY)))
                .containsExactly(
                        "businessKey is null: give one, or leave it out",
                        "deadline is null: give one, or leave it out");
    }

    @Test
    void upcasts_are_from_older_versions_each_once() {
        Function<Order.Old, Order> upcast = old -> Order.of(old.id());
        assertThat(mistakes(SampleSagas.begin()
                        .upcast(0, Order.Old.class, upcast)
                        .upcast(2, Order.Old.class, upcast)
                        .upcast(1, Order.Old.class, upcast)
                        .upcast(1, Order.Old.class, upcast)
                        .upcast(1, null, upcast)
                        .sleep("a", DAY)))
                .containsExactly(
                        "upcast must be from a version between 1 and the one before this, got 0 for version 2",
                        "upcast must be from a version between 1 and the one before this, got 2 for version 2",
                        "the saga has two upcasts from version 1: keep one of them",
                        "upcast from version 1 has null for the class: give one");
    }

    @Test
    void what_comes_before_the_pivot_says_how_it_is_undone() {
        assertThat(mistakes(SampleSagas.begin()
                        .step("a")
                        .call((order, step) -> order)
                        .choose(
                                "b",
                                when(
                                        "c",
                                        Order::express,
                                        chain -> chain.step("d").call((order, step) -> order)),
                                otherwise())
                        .child("e", Order.PARCEL)
                        .startedWith(order -> new Order.Parcel(order.id()))
                        .completed((order, parcel) -> order)
                        .pivot("f")
                        .call((order, step) -> order)
                        .step("g")
                        .call((order, step) -> order)))
                .containsExactly(
                        undone("step \"a\" comes before the pivot \"f\" and"),
                        undone("step \"d\" comes before the pivot \"f\" and"),
                        undone("child \"e\" comes before the pivot \"f\" and"));
    }

    private static String undone(String who) {
        return who + " has no compensation: add compensate(...), or noCompensation() if there is nothing to undo";
    }

    @Test
    void from_the_pivot_on_nothing_has_a_compensation() {
        assertThat(mistakes(SampleSagas.begin()
                        .pivot("a")
                        .call((order, step) -> order)
                        .compensate((order, step) -> {})
                        .parallel(
                                "b",
                                branch(
                                        "c",
                                        chain -> chain.step("d")
                                                .call((order, step) -> order)
                                                .compensate((order, step) -> {})),
                                branch("e", chain -> chain.sleep("f", DAY)))
                        .join((order, results) -> order)
                        .step("g")
                        .call((order, step) -> order)
                        .noCompensation()))
                .containsExactly("pivot \"a\" is the pivot" + NEVER, "step \"d\" comes after the pivot \"a\"" + NEVER);
    }

    private static final String NEVER =
            " and has a compensation, which would never run, as the saga only goes forward from"
                    + " its pivot on: remove it, or make a later step the pivot";

    @Test
    void options_of_compensations_fit_together() {
        assertThat(mistakes(SampleSagas.begin()
                        .step("a")
                        .call((order, step) -> order)
                        .compensate((order, step) -> {})
                        .noCompensation()
                        .step("b")
                        .call((order, step) -> order)
                        .noCompensation()
                        .retryCompensation(RetryPolicy.standard())
                        .compensateOnlyWhenCompleted()
                        .step("c")
                        .transactional((order, step, connection) -> order)
                        .compensate((order, step) -> {})
                        .compensateOnlyWhenCompleted()
                        .step("d")
                        .call((order, step) -> order)
                        .compensate((order, step) -> {})
                        .compensateTransactionally((order, step, connection) -> {})
                        .step("e")
                        .call((order, step) -> order)
                        .compensate(null)))
                .containsExactly(
                        "step \"a\" has a compensation and noCompensation(): keep one of them",
                        "step \"b\" has retryCompensation(...) but no compensation: remove it",
                        "step \"b\" has compensateOnlyWhenCompleted() but no compensation: remove it",
                        "step \"c\" is transactional and has compensateOnlyWhenCompleted(): the outcome of its transaction"
                                + " is always known; remove it",
                        "step \"d\" has compensation twice: keep one of them",
                        "step \"e\" has null for compensation: give one");
    }

    @Test
    void options_of_steps_are_given_once_and_in_range() {
        assertThat(mistakes(SampleSagas.begin()
                        .step("a")
                        .call((order, step) -> order)
                        .noCompensation()
                        .retry(RetryPolicy.standard())
                        .retry(RetryPolicy.standard())
                        .timeout(Duration.ZERO)
                        .timeout(DAY)
                        .step("b")
                        .call((order, step) -> order)
                        .noCompensation()
                        .retry(null)
                        .timeout(null)
                        .step("c")
                        .transactional(null, (order, step, resource) -> order)
                        .noCompensation()))
                .containsExactly(
                        "step \"a\" has retry twice: keep one of them",
                        "step \"a\" has a wrong timeout: it must be between 1 ms and 7 d, got PT0S",
                        "step \"a\" has timeout twice: keep one of them",
                        "step \"b\" has null for retry: give one",
                        "step \"b\" has null for timeout: give one",
                        "step \"c\" has null for its work: give one");
    }

    @Test
    void a_saga_turns_once() {
        assertThat(mistakes(SampleSagas.begin()
                        .pivot("a")
                        .call((order, step) -> order)
                        .pivot("b")
                        .call((order, step) -> order)))
                .containsExactly(
                        "pivot \"b\" is a second pivot after \"a\": a saga turns once; make one of them a step");
    }

    @Test
    void a_pivot_stands_on_the_main_line() {
        assertThat(mistakes(SampleSagas.begin()
                        .parallel(
                                "p",
                                branch("x", chain -> chain.pivot("a").call((order, step) -> order)),
                                branch(
                                        "y",
                                        chain -> chain.choose(
                                                "q",
                                                when(
                                                        "z",
                                                        Order::express,
                                                        inner ->
                                                                inner.pivot("b").call((order, step) -> order)),
                                                otherwise())))
                        .join((order, results) -> order)))
                .satisfiesExactly(
                        text -> assertThat(text).startsWith("pivot \"a\" stands in branch \"x\" of parallel \"p\":"),
                        text -> assertThat(text)
                                .startsWith(
                                        "pivot \"b\" stands in branch \"z\" of choose \"q\" in branch \"y\" of parallel"
                                                + " \"p\":"));
    }

    @Test
    void what_was_begun_is_finished() {
        SagaSteps<Order> chain = SampleSagas.begin();
        chain.step("a");
        chain.await(Order.DELIVERED, (order, delivered) -> order);
        chain.await("b", Order.DELIVERED, (order, delivered) -> order).within(DAY);
        chain.parallel("c", branch("x", line -> line.sleep("d", DAY)), branch("y", line -> line.sleep("e", DAY)));
        chain.child("f", Order.PARCEL).startedWith(order -> new Order.Parcel(order.id()));
        assertThat(mistakes(chain))
                .containsExactly(
                        "step \"a\" has no work: add call(...) or transactional(...)",
                        undone("step \"a\""),
                        "await \"delivered\" has no limit: add within(...) and otherwise(...), or the saga could wait for"
                                + " ever",
                        "await \"b\" does not say what happens when its time is over: add otherwise(...)",
                        "parallel \"c\" has no join: add join(...), which makes one state of what its branches ended with",
                        "child \"f\" is not finished: add startedWith(...) and completed(...)",
                        undone("child \"f\""));
    }

    @Test
    void a_wait_is_limited_and_fails_before_the_pivot_only() {
        SampleSagas.begin()
                .await(Order.DELIVERED, (order, delivered) -> order)
                .within(DAY)
                .otherwise(fail())
                .build();
        assertThat(mistakes(SampleSagas.begin()
                        .pivot("a")
                        .call((order, step) -> order)
                        .await(Order.DELIVERED, (order, delivered) -> order)
                        .within(Duration.ofDays(36_601))
                        .otherwise(fail())
                        .await("b", null, null)
                        .within(null)
                        .otherwise(null)))
                .containsExactly(
                        "await \"delivered\" has a wrong within: it must be between 1 ms and 100 years, got PT878424H",
                        "await \"delivered\" comes after the pivot \"a\" and would fail, which cannot be undone any more:"
                                + " use escalate() or continueWith(...)",
                        "await \"b\" has null for its signal: give one",
                        "await \"b\" has null for its function: give one",
                        "await \"b\" has null for within: give one",
                        "await \"b\" has null for otherwise: give one");
    }

    @Test
    void a_signal_has_one_type_and_is_awaited_by_one_branch_at_a_time() {
        SagaSignal<String> other = SagaSignal.named("delivered", String.class);
        assertThat(mistakes(SampleSagas.begin()
                        .parallel(
                                "p",
                                branch(
                                        "x",
                                        chain -> chain.await("a", Order.DELIVERED, (order, delivered) -> order)
                                                .within(DAY)
                                                .otherwise(escalate())),
                                branch(
                                        "y",
                                        chain -> chain.await("b", other, (order, text) -> order)
                                                .within(DAY)
                                                .otherwise(escalate())))
                        .join((order, results) -> order)))
                .containsExactly(
                        "parallel \"p\" waits for signal \"delivered\" in branches \"x\" and \"y\" at once: which of them"
                                + " gets it? Await it in one, or give the signals two names",
                        "await \"b\" awaits signal \"delivered\" as java.lang.String, which is"
                                + " io.rowlock.saga.Order$Delivered before: use one constant for both");
    }

    @Test
    void sleeps_have_a_length() {
        assertThat(mistakes(SampleSagas.begin()
                        .sleep("a", Duration.ofSeconds(-1))
                        .sleep("b", (Duration) null)
                        .sleep("c", (Function<Order, Duration>) null)
                        .sleepUntil("d", null)))
                .containsExactly(
                        "sleep \"a\" has a wrong duration: it must be between 1 ms and 100 years, got PT-1S",
                        "sleep \"b\" has null for its time: give one",
                        "sleep \"c\" has null for its time: give one",
                        "sleep \"d\" has null for its time: give one");
    }

    @Test
    void parallel_parts_have_two_branches_with_steps_and_names() {
        assertThat(mistakes(SampleSagas.begin()
                        .parallel("p", branch("x", chain -> chain))
                        .join(null)
                        .parallel(
                                "q",
                                branch("x", chain -> chain.sleep("a", DAY)),
                                branch("x", chain -> chain.sleep("b", DAY)),
                                branch("", chain -> chain.sleep("c", DAY)),
                                null)
                        .join((order, results) -> order)))
                .containsExactly(
                        "parallel \"p\" has null for join: give one",
                        "parallel \"p\" needs at least two branches, got 1: add one, or put its steps on the line",
                        "parallel \"p\" has an empty branch \"x\": give it a step, or remove it",
                        "parallel \"q\" has null for a branch: make it with branch(...)",
                        "parallel \"q\" has two branches named \"x\": rename one",
                        "parallel \"q\" has a branch with a wrong name: it must not be blank");
    }

    @Test
    void choices_begin_with_when_and_end_with_otherwise() {
        assertThat(mistakes(SampleSagas.begin()
                        .choose("a", when("x", Order::express, chain -> chain.sleep("b", DAY)))
                        .choose("c", otherwise())
                        .choose(
                                "d",
                                when("x", null, chain -> chain),
                                otherwise(),
                                when("y", Order::express, chain -> chain.sleep("e", DAY)),
                                otherwise())))
                .containsExactly(
                        "choose \"a\" does not say what happens when no condition holds: end it with otherwise(...), or"
                                + " otherwise() to go on",
                        "choose \"c\" has nothing to choose from: begin with when(...)",
                        "choose \"d\" has null for the condition of \"x\": give one",
                        "choose \"d\" can never reach branch \"y\", which comes after otherwise: put otherwise last, once",
                        "choose \"d\" can never reach branch \"otherwise\", which comes after otherwise: put otherwise"
                                + " last, once");
    }

    @Test
    void a_branch_returns_its_own_chain() {
        SagaSteps<Order> main = SampleSagas.begin();
        main.choose("a", when("x", Order::express, chain -> main), otherwise(chain -> null));
        assertThat(mistakes(main))
                .containsExactly(
                        "choose \"a\" has a branch \"x\" that does not return the chain it was given: end its lambda with"
                                + " the chain",
                        "choose \"a\" has a branch \"otherwise\" that does not return the chain it was given: end its"
                                + " lambda with the chain");
    }

    @Test
    void a_branch_is_not_built() {
        assertThatThrownBy(() -> SampleSagas.begin().choose("a", when("x", Order::express, chain -> {
                    chain.sleep("b", DAY).build();
                    return chain;
                })))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("not branch \"x\"");
    }

    @Test
    void names_are_unique_over_branches_too_and_told_once() {
        assertThat(mistakes(SampleSagas.begin()
                        .sleep("a", DAY)
                        .choose("b", when("x", Order::express, chain -> chain.sleep("a", DAY)), otherwise())
                        .sleep("a", DAY)))
                .containsExactly(
                        "sleep \"a\" has a name that is used before: names are unique in the whole saga, branches"
                                + " included; rename one");
    }

    @Test
    void a_child_is_complete() {
        assertThat(mistakes(SampleSagas.begin()
                        .child("a", (SagaType<Order.Parcel>) null)
                        .startedWith(null)
                        .completed(null)
                        .noCompensation()))
                .containsExactly(
                        "child \"a\" has null for its saga: give one",
                        "child \"a\" has null for startedWith: give one",
                        "child \"a\" has null for completed: give one");
    }

    private static List<String> mistakes(SagaSteps<Order> chain) {
        return catchThrowableOfType(InvalidSagaException.class, chain::build).mistakes();
    }
}
