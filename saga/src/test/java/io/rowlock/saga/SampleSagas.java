package io.rowlock.saga;

import static io.rowlock.job.RetryPolicy.exponential;
import static io.rowlock.saga.Branch.branch;
import static io.rowlock.saga.Choice.otherwise;
import static io.rowlock.saga.Choice.when;
import static io.rowlock.saga.Escalation.continueWith;
import static io.rowlock.saga.Escalation.escalate;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import java.time.Duration;

/** Definitions without mistakes, and beginnings of such with. */
final class SampleSagas {
    private SampleSagas() {}

    /** A saga with everything a definition can have. */
    static Saga<Order> fulfilment(SagaBuilder<Order> saga) {
        return saga.named("order-fulfilment", Order.class)
                .version(3)
                .startedBy(Order.Placed.class, placed -> Order.of(placed.id()))
                .businessKey(order -> "Order:" + order.id())
                .deadline(ofDays(30))
                .upcast(2, Order.Old.class, old -> Order.of(old.id()))
                .step("reserve-stock")
                .call((order, step) -> order)
                .compensate((order, step) -> step.key("reserve-stock"))
                .step("charge-card")
                .call((order, step) -> order.with(step.key()))
                .compensate((order, step) -> step.key("charge-card"))
                .retry(exponential(ofSeconds(1)).maxAttempts(5))
                .retryCompensation(exponential(ofSeconds(5)))
                .timeout(ofSeconds(20))
                .compensateOnlyWhenCompleted()
                .step("count-order")
                .transactional((order, step, connection) -> order)
                .compensateTransactionally((order, step, connection) -> {})
                .child("pack", Order.PARCEL)
                .startedWith(order -> new Order.Parcel(order.id()))
                .completed((order, parcel) -> order)
                .compensate((order, step) -> {})
                .choose(
                        "carrier",
                        when(
                                "express",
                                Order::express,
                                chain -> chain.step("call-courier")
                                        .call((order, step) -> order)
                                        .noCompensation()),
                        otherwise())
                .pivot("book-shipment")
                .call((order, step) -> order)
                .step("write-invoice")
                .transactional((order, step, connection) -> order)
                .await(Order.DELIVERED, (order, delivered) -> order)
                .within(ofDays(14))
                .otherwise(escalate())
                .sleep("rest", Duration.ofHours(36))
                .parallel(
                        "aftercare",
                        branch("thank", chain -> chain.step("send-thanks").call((order, step) -> order)),
                        branch(
                                "survey",
                                chain -> chain.sleep("wait-a-little", order -> ofMinutes(5))
                                        .step("send-survey")
                                        .call((order, step) -> order)))
                .join((order, results) -> results.of("thank"))
                .await("answer", Order.DELIVERED, (order, delivered) -> order)
                .within(ofDays(1))
                .otherwise(continueWith(order -> order))
                .build();
    }

    /** A saga of one name, for definitions with one mistake. */
    static SagaStart<Order> begin() {
        return new SagaBuilder<Order>().named("s", Order.class).version(2);
    }
}
