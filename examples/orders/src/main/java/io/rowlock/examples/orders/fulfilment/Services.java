package io.rowlock.examples.orders.fulfilment;

import java.net.URI;

/** The clients of the services outside. */
public record Services(Warehouse warehouse, Bank bank, Carrier carrier) {

    /** Clients of the services at these addresses. */
    public static Services at(URI warehouse, URI bank, URI carrier) {
        return new Services(
                new Warehouse(new KeyedHttp(warehouse)),
                new Bank(new KeyedHttp(bank)),
                new Carrier(new KeyedHttp(carrier)));
    }
}
