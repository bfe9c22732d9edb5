package io.rowlock.examples.orders.outside;

import io.rowlock.examples.orders.outside.KeyedServer.Answer;
import io.rowlock.examples.orders.outside.KeyedServer.Request;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;

/**
 * The bank's side: it fails as banks do, and always at the same orders. It declines amounts above 15,000. Of other
 * orders,
 *
 * <ul>
 *   <li>those ending in 3 are refused twice, the first time with {@code Retry-After};
 *   <li>those ending in 7 are charged, but the connection drops before the answer;
 *   <li>those ending in 29 are charged, but the answer comes after the caller has given up waiting;
 *   <li>those ending in 66 are charged, and the connection drops each time: nobody at the shop ever learns of it.
 * </ul>
 *
 * Every first refund fails.
 */
public final class BankServer implements AutoCloseable {
    private static final BigDecimal LIMIT = new BigDecimal("15000.00");

    private final BankBooks books = new BankBooks();
    private final KeyedServer server;

    /** Starts the server on a free port of 127.0.0.1. */
    public BankServer() throws IOException {
        server = new KeyedServer("/charges", this::answer);
    }

    /** Where it is reached. */
    public URI address() {
        return server.address();
    }

    public BankBooks books() {
        return books;
    }

    private Answer answer(Request request) {
        return request.undo() ? refund(request) : charge(request);
    }

    private Answer charge(Request request) {
        long order = request.body().required("order").longValue();
        BigDecimal amount = new BigDecimal(request.body().required("amount").textValue());
        int call = books.call(request.key());
        if (amount.compareTo(LIMIT) > 0) {
            return Answer.failed(402, "declined: more than " + LIMIT + " EUR");
        } else if (order % 10 == 3 && call <= 2) {
            return call == 1 ? Answer.busy(1) : Answer.failed(500, "something broke");
        } else if (!books.charge(request.key(), order, amount)) {
            return Answer.failed(422, "refunded before it was charged");
        } else if (order % 100 == 66 || (order % 10 == 7 && call == 1)) {
            return Answer.dropped();
        }
        return order % 100 == 29 && call == 1 ? Answer.hanging() : Answer.ok("charge of order " + order);
    }

    private Answer refund(Request request) {
        if (books.call("refund " + request.key()) == 1) {
            return Answer.failed(503, "busy");
        }
        books.refund(request.key());
        return Answer.ok("");
    }

    @Override
    public void close() {
        server.close();
    }
}
