package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.ShopConfig;
import io.rowlock.examples.orders.Startup;
import io.rowlock.examples.orders.outside.BankServer;
import io.rowlock.examples.orders.outside.CarrierServer;
import io.rowlock.examples.orders.outside.WarehouseServer;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;

/** What is around the shop, all of it for the demo's time only: a PostgreSQL, an SMTP server, and three services. */
final class World implements AutoCloseable {
    private final Startup startup = new Startup();
    private final OwnPostgres postgres;
    private final Mailbox mailbox;
    private final WarehouseServer warehouse;
    private final BankServer bank;
    private final CarrierServer carrier;

    /** Starts all; takes a few seconds. */
    World() {
        // Durable, as in production: each commit waits for the disk.
        postgres = startup.start(() -> TestPostgres.embedded(options -> options.durable()), OwnPostgres::close);
        mailbox = startup.start(Mailbox::new, Mailbox::close);
        warehouse = startup.start(WarehouseServer::new, WarehouseServer::close);
        bank = startup.start(BankServer::new, BankServer::close);
        carrier = startup.start(CarrierServer::new, CarrierServer::close);
    }

    /** How a shop in this world is set up, with its HTTP server on this port. */
    ShopConfig shopConfig(int port) {
        ShopConfig.Database database = new ShopConfig.Database(postgres.url(), postgres.user(), postgres.password());
        ShopConfig.Smtp smtp = new ShopConfig.Smtp("127.0.0.1", mailbox.port());
        ShopConfig.Outside services = new ShopConfig.Outside(warehouse.address(), bank.address(), carrier.address());
        return new ShopConfig(database, smtp, services, port);
    }

    Mailbox mailbox() {
        return mailbox;
    }

    WarehouseServer warehouse() {
        return warehouse;
    }

    BankServer bank() {
        return bank;
    }

    CarrierServer carrier() {
        return carrier;
    }

    @Override
    public void close() {
        startup.close();
    }
}
