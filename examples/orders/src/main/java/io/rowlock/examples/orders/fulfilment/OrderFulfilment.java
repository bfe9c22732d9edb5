package io.rowlock.examples.orders.fulfilment;

import static io.rowlock.saga.Escalation.escalate;

import io.rowlock.examples.orders.mail.MailSender;
import io.rowlock.examples.orders.order.OrderPlaced;
import io.rowlock.job.RetryPolicy;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaType;
import jakarta.persistence.EntityManagerFactory;
import java.time.Duration;

/**
 * From a placed order to a customer who has it, over three services that may fail, answer late or not at all.
 *
 * <p>Until the shipment is booked everything can be undone, and is when a step fails for good: the money goes back, then
 * the stock. From then on the saga only goes forward; where it cannot, a person is called. Each call carries a key that is
 * the same in all attempts, so that a service can tell a repeated call from a second one.
 */
public final class OrderFulfilment implements SagaDefinition<Fulfilment> {
    public static final SagaType<Fulfilment> TYPE = SagaType.named("order-fulfilment", Fulfilment.class);

    /** The carrier's word that the customer has the goods. */
    public static final SagaSignal<Delivered> DELIVERED = SagaSignal.named("delivered", Delivered.class);

    // So quick for the demo's sake; real services deserve RetryPolicy.standard().
    private static final RetryPolicy QUICK =
            RetryPolicy.exponential(Duration.ofMillis(200)).max(Duration.ofSeconds(2));

    private final Warehouse warehouse;
    private final Bank bank;
    private final Carrier carrier;
    private final MailSender mails;
    private final EntityManagerFactory emf;

    public OrderFulfilment(Services services, MailSender mails, EntityManagerFactory emf) {
        this.warehouse = services.warehouse();
        this.bank = services.bank();
        this.carrier = services.carrier();
        this.mails = mails;
        this.emf = emf;
    }

    /** The name of the saga of an order in the business. */
    public static String businessKey(long order) {
        return "order/" + order;
    }

    @Override
    public Saga<Fulfilment> define(SagaBuilder<Fulfilment> saga) {
        return saga.named(TYPE.name(), TYPE.stateType())
                .version(1)
                .startedBy(OrderPlaced.class, Fulfilment::of) // the job that storing an Order makes
                .businessKey(state -> businessKey(state.order().order()))
                //
                .step("reserve-stock")
                .call((state, step) -> state.reserved(warehouse.reserve(state.order(), step.key())))
                .compensate((state, step) -> warehouse.release(step.key("reserve-stock")))
                .retry(QUICK)
                .retryCompensation(QUICK)
                //
                .step("charge-card")
                .call((state, step) -> state.charged(bank.charge(state.order(), step.key())))
                .compensate((state, step) -> bank.refund(step.key("charge-card"))) // also if no answer ever came
                .retry(QUICK.maxAttempts(5))
                .retryCompensation(QUICK)
                .timeout(Duration.ofSeconds(20))
                //
                .pivot("book-shipment") // no way back from here
                .call((state, step) -> state.booked(carrier.book(state.order(), step.key())))
                .retry(QUICK)
                //
                .step("write-invoice") // commits together with the record of this step, or not at all
                .transactional(JpaTransactions.of(emf), (state, step, em) -> {
                    em.persist(Invoice.of(state));
                    return state;
                })
                //
                .await(DELIVERED, (state, word) -> state.delivered(word.at()))
                .within(Duration.ofDays(14))
                .otherwise(escalate())
                //
                .step("thank")
                .call((state, step) -> {
                    mails.thank(state.order(), step.key());
                    return state;
                })
                .retry(QUICK)
                .build();
    }
}
