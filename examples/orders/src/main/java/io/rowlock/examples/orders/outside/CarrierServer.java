package io.rowlock.examples.orders.outside;

import io.rowlock.examples.orders.outside.KeyedServer.Answer;
import io.rowlock.examples.orders.outside.KeyedServer.Request;
import java.io.IOException;
import java.net.URI;

/**
 * The carrier's side: it books shipments, delivers at once, and tells the shop. Of every ten orders those ending in 4
 * are refused once, and the answer to those ending in 8 is lost once. It does not go to Atlantis.
 */
public final class CarrierServer implements AutoCloseable {
    private final CarrierBooks books = new CarrierBooks();
    private final DeliveryReports reports = new DeliveryReports();
    private final KeyedServer server;

    /** Starts the server on a free port of 127.0.0.1. */
    public CarrierServer() throws IOException {
        server = new KeyedServer("/shipments", this::answer);
    }

    /** Where it is reached. */
    public URI address() {
        return server.address();
    }

    public CarrierBooks books() {
        return books;
    }

    /** What it tells the shop. */
    public DeliveryReports reports() {
        return reports;
    }

    private Answer answer(Request request) {
        long order = request.body().required("order").longValue();
        int call = books.call(request.key());
        if (request.body().required("country").textValue().equals("Atlantis") && !books.goesTo(order)) {
            return Answer.failed(422, "no deliveries to Atlantis");
        } else if (order % 10 == 4 && call == 1) {
            return Answer.failed(503, "busy");
        }
        if (books.deliver(request.key(), order)) {
            reports.tell(order, order % 10 == 0 ? 2 : 1); // some twice, as outside events do
        }
        return order % 10 == 8 && call == 1
                ? Answer.failed(500, "something broke after the booking")
                : Answer.ok("shipment of order " + order);
    }

    @Override
    public void close() {
        server.close();
        reports.close();
    }
}
