package io.rowlock.examples.orders.order;

import io.rowlock.examples.orders.order.OrderRefused.Rule;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.Optional;
import org.hibernate.exception.ConstraintViolationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes orders, each in one transaction. There is no word of mails, services, sagas or jobs here: the annotations on
 * {@link Order} see to those.
 */
public final class OrderService {
    private static final Logger log = LoggerFactory.getLogger(OrderService.class);

    private final EntityManagerFactory emf;

    public OrderService(EntityManagerFactory emf) {
        this.emf = emf;
    }

    /**
     * Stores an order. When this returns, the order and its two jobs are committed; when it throws, there is neither.
     *
     * @return the stored order
     * @throws OrderRefused if the order breaks a rule; a {@link RefusedOrder} row then says so
     */
    public Order place(NewOrder wanted) {
        try {
            return emf.callInTransaction(em -> store(em, Order.of(wanted)));
        } catch (OrderRefused refusal) {
            noteRefusal(wanted.order(), refusal);
            throw refusal;
        }
    }

    /** The order with its lines. */
    public Optional<Order> find(long number) {
        return emf.callInTransaction(em -> em.createQuery(
                        "select o from Order o left join fetch o.lines where o.number = :number", Order.class)
                .setParameter("number", number)
                .getResultStream()
                .findFirst());
    }

    private static Order store(EntityManager em, Order order) {
        em.persist(order);
        try {
            em.flush();
        } catch (ConstraintViolationException violation) {
            throw numberTaken(order, violation);
        }
        // From here on the order, its lines and its two jobs are rows of this transaction. The rules come last on
        // purpose: an order that breaks one takes all those rows with it.
        OrderRules.check(em, order);
        return order;
    }

    private static RuntimeException numberTaken(Order order, ConstraintViolationException violation) {
        return Order.NUMBER_IS_UNIQUE.equals(violation.getConstraintName())
                ? new OrderRefused(Rule.DUPLICATE_NUMBER, "There is an order " + order.number() + " already")
                : violation;
    }

    /** A transaction of its own, as the order's was rolled back; a crash in between loses the note and nothing else. */
    private void noteRefusal(long number, OrderRefused refusal) {
        try {
            emf.runInTransaction(em -> em.persist(new RefusedOrder(number, refusal)));
        } catch (RuntimeException e) {
            log.warn("Refused order {} could not be noted", number, e);
        }
    }
}
