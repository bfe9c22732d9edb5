package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * All that runs on one database at once: clients that buy, workers that do jobs and sagas, a leader, the parts of a feed, clients
 * that write and pay. Nobody looks after them, whatever happens to the database or the network.
 */
final class Trade implements AutoCloseable {
    private static final int INSTANCES = 2;
    private static final int POOL = 8;
    private static final int BUYERS = 3;
    private static final int A_WHILE = 60;
    private static final RetryPolicy OFTEN =
            RetryPolicy.fixed(Duration.ofMillis(100)).maxAttempts(1_000);

    private final Queue<String> mails = new ConcurrentLinkedQueue<>();
    private final List<Worker> workers = new ArrayList<>();
    private final Books books;
    private final Buyers buyers;
    private final Coordination coordination;
    private TestSchema server;

    /** Begins. */
    Trade(Cluster cluster, TestPostgres booksAt) throws SQLException {
        server = cluster.before();
        Scene.rowlock(server, server::connect).schema().install();
        server.execute("""
                CREATE TABLE purchase (id text PRIMARY KEY);
                CREATE TABLE entry (purchase text NOT NULL);
                """);
        books = Books.create(server, booksAt);
        Shop shop = new Shop(books, new Around() {}, Duration.ofSeconds(5));
        for (int i = 0; i < INSTANCES; i++) {
            HikariDataSource pool = cluster.pool(POOL);
            Rowlock instance = Scene.rowlock(server, pool::getConnection);
            workers.add(start(instance, Scene.engine(instance, "default", shop.buy())));
        }
        coordination = Coordination.begin(cluster);
        Rowlock clients = Scene.rowlock(server, server::connect);
        SagaEngine sagas = Scene.engine(clients, "default", shop.buy());
        buyers = new Buyers(cluster.pool(BUYERS), clients, sagas, BUYERS);
    }

    /** From now on what is looked at is there. */
    void movedTo(TestSchema other) {
        server = other;
    }

    /** Waits until every one of them does something again. */
    void awaitGoesOn() throws SQLException {
        int confirmed = buyers.confirmed().size();
        Scene.patiently().alias("buyers").until(() -> buyers.confirmed().size() >= confirmed + A_WHILE);
        coordination.awaitGoesOn(server);
    }

    /** Waits until no worker is well. */
    void awaitDown() {
        Scene.patiently()
                .until(() ->
                        workers.stream().noneMatch(worker -> worker.health().up()));
    }

    /** Lets the clients end, and all that they left be done; then looks at what is there. */
    void assertHeld() throws SQLException {
        buyers.close();
        coordination.end(server);
        awaitAllDone();
        assertNothingLost();
        assertEffectsOnce();
        coordination.assertHeld(server);
        Scene.patiently()
                .until(() -> workers.stream().allMatch(worker -> worker.health().up()));
    }

    @Override
    public void close() throws SQLException {
        buyers.close();
        coordination.close();
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(5)));
        books.close();
        books.schema().drop();
    }

    private void awaitAllDone() {
        Scene.patiently()
                .until(() -> server.count(
                                "SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND kind IN ('mail', 'entry')")
                        == 0);
        Scene.patiently()
                .until(
                        () -> server.list(String.class, "SELECT DISTINCT status FROM rowlock_saga"),
                        List.of("completed")::equals);
    }

    private void assertNothingLost() throws SQLException {
        Set<String> purchases = purchases();
        assertThat(purchases).containsAll(buyers.confirmed());
        Set<String> tried = new HashSet<>(buyers.confirmed());
        tried.addAll(buyers.doubtful());
        assertThat(tried).containsAll(purchases);
        assertThat(new HashSet<>(mails)).containsAll(purchases);
        assertThat(
                        server.list(
                                String.class,
                                "SELECT state || ' ' || kind || ' ' || coalesce(last_error, '') FROM rowlock_job WHERE state IN ('dead', 'cancelled')"))
                .isEmpty();
    }

    /** What is written in transactions is there once for each purchase; outside, no key was used for two things. */
    private void assertEffectsOnce() throws SQLException {
        Set<String> purchases = purchases();
        List<String> entries = server.list(String.class, "SELECT purchase FROM entry");
        assertThat(entries).containsExactlyInAnyOrderElementsOf(purchases);
        assertThat(server.list(
                        String.class, "SELECT saga FROM invoice GROUP BY saga HAVING count(*) <> 1 OR bool_or(undo)"))
                .isEmpty();
        List<String> completed = server.list(String.class, "SELECT id FROM rowlock_saga");
        assertThat(server.list(String.class, "SELECT saga FROM invoice"))
                .containsExactlyInAnyOrderElementsOf(completed);
        assertThat(books.severalKeys()).isEmpty();
        long amount = completed.size() * Purchase.of("", "").amount();
        for (String step : List.of("reserve", "charge", "ship", "thank")) {
            assertThat(books.sum(step)).as(step).isEqualTo(amount);
        }
    }

    private Set<String> purchases() throws SQLException {
        return new HashSet<>(server.list(String.class, "SELECT id FROM purchase"));
    }

    private Worker start(Rowlock of, SagaEngine engine) {
        Worker worker = of.worker(config -> engine.on(config)
                .poll(Duration.ofMillis(50))
                .lease(Scene.LEASE)
                .handle(Buyers.Mail.class, (mail, job) -> mails.add(mail.purchase()), options -> options.retry(OFTEN))
                .handleTransactionally(
                        Buyers.Entry.class,
                        (entry, job, connection) -> enter(connection, entry),
                        options -> options.retry(OFTEN)));
        worker.start();
        return worker;
    }

    private static void enter(Connection connection, Buyers.Entry entry) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO entry (purchase) VALUES (?)")) {
            insert.setString(1, entry.purchase());
            insert.executeUpdate();
        }
    }
}
