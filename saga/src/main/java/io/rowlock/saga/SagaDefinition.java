package io.rowlock.saga;

/**
 * Says what a saga does: a bean where there are beans, so that its steps can use the application's services.
 *
 * <pre>{@code
 * final class OrderFulfilment implements SagaDefinition<State> {
 *     public Saga<State> define(SagaBuilder<State> saga) {
 *         return saga.named("order-fulfilment", State.class).version(1)
 *                 .step("reserve-stock").call((s, step) -> s.reserved(stock.reserve(s.order(), step.key())))
 *                     .compensate((s, step) -> stock.releaseByKey(step.key("reserve-stock")))
 *                 .pivot("book-shipment").call((s, step) -> s.booked(carrier.book(s.order(), step.key())))
 *                 .step("thank").call((s, step) -> s.thanked(mail.thank(s.order(), step.key())))
 *                 .build();
 *     }
 * }
 * }</pre>
 *
 * @param <S> the saga's state: an immutable type, a record at best, that the payload codec can write and read
 */
@FunctionalInterface
public interface SagaDefinition<S> {
    /**
     * Builds the saga. Called once for each Rowlock it is registered with, before workers start; touches no row.
     *
     * @param saga an empty builder
     * @return what its {@code build()} returned
     * @throws InvalidSagaException if the definition has mistakes; it names all of them
     */
    Saga<S> define(SagaBuilder<S> saga);
}
