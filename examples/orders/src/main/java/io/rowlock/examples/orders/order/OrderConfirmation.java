package io.rowlock.examples.orders.order;

import io.rowlock.job.Kind;
import java.math.BigDecimal;
import java.util.List;

/**
 * The job of mailing a customer that the order was taken. It holds all that the mail says, so that the mail says what
 * was ordered then, whatever happens to the order until it goes out.
 */
@Kind(OrderConfirmation.KIND)
public record OrderConfirmation(
        long order, String customer, String email, List<Line> lines, BigDecimal freight, BigDecimal total) {
    public static final String KIND = "order-confirmation";

    public OrderConfirmation {
        lines = List.copyOf(lines);
    }

    /** One line of the mail. */
    public record Line(String product, int quantity, BigDecimal amount) {}
}
