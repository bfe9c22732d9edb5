package io.rowlock.examples.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.examples.orders.fulfilment.Deliveries;
import io.rowlock.examples.orders.fulfilment.OrderFulfilment;
import io.rowlock.examples.orders.fulfilment.Services;
import io.rowlock.examples.orders.http.ShopHttp;
import io.rowlock.examples.orders.mail.MailSender;
import io.rowlock.examples.orders.order.OrderConfirmation;
import io.rowlock.examples.orders.order.OrderService;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.worker.Worker;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Persistence;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/**
 * The shop, put together by hand: Hibernate on a pool, Rowlock on a pool of its own, a worker that mails and moves sagas,
 * and an HTTP server in front. Making it starts it; closing it stops it in the right order: no new orders, then no new jobs
 * while running ones end, then the database.
 */
public final class Shop implements AutoCloseable {
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);

    private final Startup startup = new Startup();
    private final DataSource enginePool;
    private final Rowlock rowlock;
    private final SagaEngine sagas;
    private final ShopHttp http;

    /** Starts the shop; when this returns, it takes orders. */
    public Shop(ShopConfig config) {
        DataSource pool = startup.start(() -> pool("shop", config.database(), 10), HikariDataSource::close);
        // Rowlock gets connections of its own, so that a shop under load never keeps it from extending its leases.
        enginePool = startup.start(() -> pool("rowlock", config.database(), 8), HikariDataSource::close);
        EntityManagerFactory emf = startup.start(() -> hibernate(pool), EntityManagerFactory::close);
        rowlock = startup.start(() -> rowlock(enginePool, emf), nothingToStop -> {});
        MailSender mails = new MailSender(config.smtp().host(), config.smtp().port());
        ShopConfig.Outside outside = config.services();
        Services services = Services.at(outside.warehouse(), outside.bank(), outside.carrier());
        sagas = SagaEngine.builder(rowlock)
                .queue("sagas")
                .register(new OrderFulfilment(services, mails, emf))
                .build();
        Worker worker = startup.start(() -> worker(mails), started -> started.stop(STOP_GRACE));
        http = startup.start(
                () -> new ShopHttp(
                        config.port(),
                        new OrderService(emf),
                        new Deliveries(emf, sagas.sagas()),
                        new ShopHttp.Engine(rowlock, sagas, worker)),
                ShopHttp::close);
    }

    /** The port of the HTTP server. */
    public int port() {
        return http.port();
    }

    public Rowlock rowlock() {
        return rowlock;
    }

    public SagaEngine sagas() {
        return sagas;
    }

    /** Connections to the shop's database, for looking at its rows. */
    public DataSource dataSource() {
        return enginePool;
    }

    @Override
    public void close() {
        startup.close();
    }

    private static HikariDataSource pool(String name, ShopConfig.Database database, int connections) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setJdbcUrl(database.url());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(connections);
        return new HikariDataSource(config);
    }

    private static EntityManagerFactory hibernate(DataSource pool) {
        return Persistence.createEntityManagerFactory("orders", Map.of("jakarta.persistence.nonJtaDataSource", pool));
    }

    private static Rowlock rowlock(DataSource enginePool, EntityManagerFactory emf) {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(enginePool)
                .persistenceUnit(emf) // writes the entities' jobs, and wakes the worker after each commit
                .build();
        rowlock.schema().install(); // an application with migrations would call validate() instead
        return rowlock;
    }

    private Worker worker(MailSender mails) {
        Worker worker = rowlock.worker(w -> sagas.on(w) // starts sagas, moves them, brings them their signals
                .name("shop")
                .queue("default", 8)
                .queue("sagas", 16)
                .handle(
                        OrderConfirmation.class,
                        mails,
                        h -> h.timeout(Duration.ofMinutes(1))
                                .concurrency(4)
                                .retry(RetryPolicy.exponential(Duration.ofSeconds(1)))));
        worker.start();
        return worker;
    }
}
