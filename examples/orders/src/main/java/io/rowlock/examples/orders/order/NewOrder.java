package io.rowlock.examples.orders.order;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;

/** An order as it arrives: well written, not yet judged. {@link OrderJson} makes it and checks every value. */
public record NewOrder(
        long order,
        String customer,
        String email,
        LocalDate placedOn,
        LocalDate requiredOn,
        String country,
        BigDecimal freight,
        List<Item> items) {
    /** The most characters in a text. */
    public static final int TEXT_LIMIT = 200;

    public NewOrder {
        items = List.copyOf(items);
    }

    /** One product. The discount is a fraction: 0.05 is five per cent off. */
    public record Item(String product, BigDecimal unitPrice, int quantity, BigDecimal discount) {}
}
