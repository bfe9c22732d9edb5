package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.OrderPlaced;
import java.io.IOException;
import java.util.Map;

/** The bank that charges cards, by HTTP. */
public final class Bank {
    private final KeyedHttp http;

    Bank(KeyedHttp http) {
        this.http = http;
    }

    /** Charges the customer's card; answers the number of the charge. */
    String charge(OrderPlaced order, String key) throws IOException, InterruptedException {
        return http.post(
                "/charges",
                key,
                Map.of("order", order.order(), "amount", order.total().toPlainString()));
    }

    /** Gives back whatever was charged under the key, if anything was; a charge that comes later is refused. */
    void refund(String key) throws IOException, InterruptedException {
        http.delete("/charges", key);
    }
}
