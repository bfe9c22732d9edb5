package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.Order;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.Sagas;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.sql.Connection;
import java.time.Instant;
import java.util.Optional;

/** Takes the carrier's word that an order was delivered: notes it, and tells the order's saga, in one transaction. */
public final class Deliveries {
    private final EntityManagerFactory emf;
    private final Sagas sagas;

    public Deliveries(EntityManagerFactory emf, Sagas sagas) {
        this.emf = emf;
        this.sagas = sagas;
    }

    /** Answers whether there is such an order. The word may come early, late or twice. */
    public boolean note(long number, Instant at) {
        return emf.callInTransaction(em -> {
            Optional<Order> order = em.createQuery("from Order where number = :number", Order.class)
                    .setParameter("number", number)
                    .getResultStream()
                    .findFirst();
            order.ifPresent(known -> {
                known.delivered(at);
                signal(em, number, at);
            });
            return order.isPresent();
        });
    }

    private void signal(EntityManager em, long number, Instant at) {
        SagaTarget saga = SagaTarget.businessKey(OrderFulfilment.businessKey(number));
        em.runWithConnection((Connection connection) ->
                sagas.signal(connection, OrderFulfilment.DELIVERED, saga, new Delivered(at)));
    }
}
