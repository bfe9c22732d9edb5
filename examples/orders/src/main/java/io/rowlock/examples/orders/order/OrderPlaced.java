package io.rowlock.examples.orders.order;

import io.rowlock.job.Kind;
import java.math.BigDecimal;
import java.util.List;

/** The job that starts the fulfilment of an order, with all that is needed for it. */
@Kind(OrderPlaced.KIND)
public record OrderPlaced(
        long order, String customer, String email, String country, BigDecimal total, List<Item> items) {
    public static final String KIND = "order-placed";

    public OrderPlaced {
        items = List.copyOf(items);
    }

    /** One product, and how many. */
    public record Item(String product, int quantity) {}
}
