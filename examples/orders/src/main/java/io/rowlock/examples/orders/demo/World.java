package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.ShopConfig;
import io.rowlock.examples.orders.Startup;
import io.rowlock.examples.orders.partner.PartnerServer;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;

/** What is around the shop, all of it for the demo's time only: a PostgreSQL, an SMTP server, a partner. */
final class World implements AutoCloseable {
    private final Startup startup = new Startup();
    private final OwnPostgres postgres;
    private final Mailbox mailbox;
    private final PartnerServer partner;

    /** Starts all three; takes a few seconds. */
    World() {
        // Durable, as in production: each commit waits for the disk.
        postgres = startup.start(() -> TestPostgres.embedded(options -> options.durable()), OwnPostgres::close);
        mailbox = startup.start(Mailbox::new, Mailbox::close);
        partner = startup.start(PartnerServer::new, PartnerServer::close);
    }

    /** How a shop in this world is set up, with its HTTP server on this port. */
    ShopConfig shopConfig(int port) {
        ShopConfig.Database database = new ShopConfig.Database(postgres.url(), postgres.user(), postgres.password());
        ShopConfig.Smtp smtp = new ShopConfig.Smtp("127.0.0.1", mailbox.port());
        return new ShopConfig(database, smtp, partner.notices(), port);
    }

    Mailbox mailbox() {
        return mailbox;
    }

    PartnerServer partner() {
        return partner;
    }

    @Override
    public void close() {
        startup.close();
    }
}
