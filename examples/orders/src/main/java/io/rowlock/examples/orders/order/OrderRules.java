package io.rowlock.examples.orders.order;

import io.rowlock.examples.orders.order.OrderRefused.Rule;
import jakarta.persistence.EntityManager;
import java.math.BigDecimal;
import java.util.List;

/** What the shop refuses, though the order is well written. */
final class OrderRules {
    /** The most that one order may come to, in euros. */
    static final BigDecimal CREDIT_LIMIT = new BigDecimal("20000.00");

    private OrderRules() {}

    /** Throws if a stored, flushed order breaks a rule; looks at rows, so it sees what the database made of it. */
    static void check(EntityManager em, Order order) {
        if (order.total().compareTo(CREDIT_LIMIT) > 0) {
            throw new OrderRefused(
                    Rule.CREDIT_LIMIT,
                    "Order " + order.number() + " comes to " + order.total() + " EUR; the credit limit is "
                            + CREDIT_LIMIT + " EUR");
        }
        List<String> discontinued = em.createQuery(
                        "select l.product from OrderLine l join DiscontinuedProduct d on d.name = l.product"
                                + " where l.order = :order order by l.position",
                        String.class)
                .setParameter("order", order)
                .getResultList();
        if (!discontinued.isEmpty()) {
            throw new OrderRefused(
                    Rule.DISCONTINUED_PRODUCT,
                    "Order " + order.number() + " asks for " + discontinued.get(0) + ", which is no longer sold");
        }
    }
}
