package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.ShopConfig;

/** What {@code ./demo --serve} says when the shop is open. */
final class ServeText {
    private static final String TEXT = """

            The shop is open at SHOP. Ctrl-C stops it.

            Order something:
              curl -i SHOP/orders -H 'Content-Type: application/json' -d '{"order": 1, "customer": "Anna", "email": "anna@example.org", "placedOn": "2026-11-29", "requiredOn": "2026-12-06", "country": "Iceland", "freight": "4.90", "items": [{"product": "Wool socks", "unitPrice": "12.50", "quantity": 2, "discount": "0.10"}]}'
            Once more, and it is rolled back, as the number is taken. The bank refuses order 3 twice, drops the connection
            after it has charged order 7, and always after it has charged order 66; it declines more than 15,000 EUR. The
            carrier does not go to "Atlantis".

            See an order and its jobs:   curl SHOP/orders/1
            See its fulfilment:          curl SHOP/orders/1/fulfilment
            Count all jobs by state:     curl SHOP/jobs
            Ask how the worker is:       curl -i SHOP/health

            PostgreSQL:   DATABASE (user postgres, any password)
            SMTP server:  MAIL
            Warehouse:    WAREHOUSE
            Bank:         BANK
            Carrier:      CARRIER

            """;

    private ServeText() {}

    static String of(ShopConfig config) {
        return TEXT.replace("SHOP", "http://127.0.0.1:" + config.port())
                .replace("DATABASE", config.database().url())
                .replace("MAIL", config.smtp().host() + ":" + config.smtp().port())
                .replace("WAREHOUSE", config.services().warehouse().toString())
                .replace("BANK", config.services().bank().toString())
                .replace("CARRIER", config.services().carrier().toString());
    }
}
