package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.OrderPlaced;
import java.io.IOException;
import java.util.Map;

/** The carrier, by HTTP. */
public final class Carrier {
    private final KeyedHttp http;

    Carrier(KeyedHttp http) {
        this.http = http;
    }

    /** Books the shipment; answers its number. The carrier calls the shop when the customer has the goods. */
    String book(OrderPlaced order, String key) throws IOException, InterruptedException {
        return http.post("/shipments", key, Map.of("order", order.order(), "country", order.country()));
    }
}
