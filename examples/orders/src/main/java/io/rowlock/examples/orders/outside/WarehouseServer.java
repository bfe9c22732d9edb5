package io.rowlock.examples.orders.outside;

import com.fasterxml.jackson.databind.JsonNode;
import io.rowlock.examples.orders.outside.KeyedServer.Answer;
import io.rowlock.examples.orders.outside.KeyedServer.Request;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/**
 * The warehouse's side: it has {@value WarehouseBooks#STOCK} of everything, and refuses what it has not. The answer to
 * orders ending in 5 is lost once, after the goods were taken from the shelf.
 */
public final class WarehouseServer implements AutoCloseable {
    private final WarehouseBooks books = new WarehouseBooks();
    private final KeyedServer server;

    /** Starts the server on a free port of 127.0.0.1. */
    public WarehouseServer() throws IOException {
        server = new KeyedServer("/reservations", this::answer);
    }

    /** Where it is reached. */
    public URI address() {
        return server.address();
    }

    public WarehouseBooks books() {
        return books;
    }

    private Answer answer(Request request) {
        if (request.undo()) {
            books.putBack(request.key());
            return Answer.ok("");
        }
        long order = request.body().required("order").longValue();
        Map<String, Integer> goods = new HashMap<>();
        for (JsonNode item : request.body().required("items")) {
            goods.merge(
                    item.required("product").textValue(),
                    item.required("quantity").intValue(),
                    Integer::sum);
        }
        int call = books.call(request.key());
        if (!books.take(request.key(), order, goods)) {
            return Answer.failed(422, "not in stock");
        }
        return order % 10 == 5 && call == 1
                ? Answer.failed(500, "something broke after the reservation")
                : Answer.ok("reservation of order " + order);
    }

    @Override
    public void close() {
        server.close();
    }
}
