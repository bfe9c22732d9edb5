package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.OrderPlaced;
import java.io.IOException;
import java.util.Map;

/** The warehouse, by HTTP. */
public final class Warehouse {
    private final KeyedHttp http;

    Warehouse(KeyedHttp http) {
        this.http = http;
    }

    /** Takes the goods from the shelf; answers the number of the reservation. */
    String reserve(OrderPlaced order, String key) throws IOException, InterruptedException {
        return http.post("/reservations", key, Map.of("order", order.order(), "items", order.items()));
    }

    /** Puts back whatever was taken under the key, if anything was. */
    void release(String key) throws IOException, InterruptedException {
        http.delete("/reservations", key);
    }
}
