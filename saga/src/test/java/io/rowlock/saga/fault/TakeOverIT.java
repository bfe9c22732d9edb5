package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A synchronous standby takes over while clients buy, jobs and sagas run: nothing that was confirmed is lost, what belongs
 * to a transaction is there once, and all goes on by itself.
 */
@PostgresTest
@Tag("P1")
@Tag("P2")
@Tag("P4")
@Tag("P10")
@Tag("B51")
@Timeout(300)
final class TakeOverIT {
    private static final int INSTANCES = 2;
    private static final int POOL = 8;
    private static final int BUYERS = 3;
    private static final int A_WHILE = 60;
    private static final RetryPolicy OFTEN =
            RetryPolicy.fixed(Duration.ofMillis(100)).maxAttempts(1_000);

    private final Queue<String> mails = new ConcurrentLinkedQueue<>();
    private final List<Worker> workers = new ArrayList<>();
    private Cluster cluster;
    private Books books;
    private Rowlock rowlock;
    private SagaEngine sagas;

    @BeforeEach
    void begin(TestSchema elsewhere) throws SQLException {
        cluster = new Cluster();
        Scene.rowlock(cluster.before(), cluster.before()::connect).schema().install();
        cluster.before().execute("""
                CREATE TABLE purchase (id text PRIMARY KEY);
                CREATE TABLE entry (purchase text NOT NULL);
                """);
        books = Books.create(cluster.before(), elsewhere.server());
        Shop shop = new Shop(books, new Around() {}, Duration.ofSeconds(5));
        for (int i = 0; i < INSTANCES; i++) {
            HikariDataSource pool = cluster.pool(POOL);
            rowlock = Scene.rowlock(cluster.before(), pool::getConnection);
            sagas = Scene.engine(rowlock, "default", shop.buy());
            workers.add(start(rowlock, sagas));
        }
    }

    @AfterEach
    void end() throws SQLException {
        workers.forEach(worker -> worker.stop(Duration.ofSeconds(5)));
        books.close();
        books.schema().drop();
        cluster.close();
    }

    @Test
    void killed_primary_is_replaced_and_everything_goes_on() throws Exception {
        assertTakesOver(cluster::failOver);
    }

    @Test
    void old_primary_that_stays_up_and_takes_no_writes_holds_nobody() throws Exception {
        assertTakesOver(cluster::switchOver);
    }

    private interface TakeOver {
        void run() throws SQLException;
    }

    private void assertTakesOver(TakeOver takeOver) throws Exception {
        HikariDataSource clients = cluster.pool(BUYERS);
        Buyers buyers = new Buyers(clients, rowlock, sagas, BUYERS);
        try (buyers) {
            awaitConfirmed(buyers, A_WHILE);
            takeOver.run();
            awaitConfirmed(buyers, buyers.confirmed().size() + A_WHILE);
        }
        awaitAllDone();
        assertNothingLost(buyers);
        assertEffectsOnce();
        Scene.patiently()
                .until(() -> workers.stream().allMatch(worker -> worker.health().up()));
    }

    private void awaitConfirmed(Buyers buyers, int number) {
        Scene.patiently().until(() -> buyers.confirmed().size() >= number);
    }

    private void awaitAllDone() {
        Scene.patiently()
                .until(() -> cluster.after()
                                .count(
                                        "SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND kind IN ('mail', 'entry')")
                        == 0);
        Scene.patiently()
                .until(
                        () -> cluster.after().list(String.class, "SELECT DISTINCT status FROM rowlock_saga"),
                        List.of("completed")::equals);
    }

    private void assertNothingLost(Buyers buyers) throws SQLException {
        Set<String> purchases = purchases();
        assertThat(purchases).containsAll(buyers.confirmed());
        Set<String> tried = new HashSet<>(buyers.confirmed());
        tried.addAll(buyers.doubtful());
        assertThat(tried).containsAll(purchases);
        assertThat(new HashSet<>(mails)).containsAll(purchases);
        assertThat(
                        cluster.after()
                                .list(
                                        String.class,
                                        "SELECT state || ' ' || kind || ' ' || coalesce(last_error, '') FROM rowlock_job WHERE state IN ('dead', 'cancelled')"))
                .isEmpty();
    }

    /** What is written in transactions is there once for each purchase; outside, no key was used for two things. */
    private void assertEffectsOnce() throws SQLException {
        Set<String> purchases = purchases();
        List<String> entries = cluster.after().list(String.class, "SELECT purchase FROM entry");
        assertThat(entries).containsExactlyInAnyOrderElementsOf(purchases);
        assertThat(cluster.after()
                        .list(
                                String.class,
                                "SELECT saga FROM invoice GROUP BY saga HAVING count(*) <> 1 OR bool_or(undo)"))
                .isEmpty();
        List<String> completed = cluster.after().list(String.class, "SELECT id FROM rowlock_saga");
        assertThat(cluster.after().list(String.class, "SELECT saga FROM invoice"))
                .containsExactlyInAnyOrderElementsOf(completed);
        assertThat(books.severalKeys()).isEmpty();
        long amount = completed.size() * Purchase.of("", "").amount();
        for (String step : List.of("reserve", "charge", "ship", "thank")) {
            assertThat(books.sum(step)).as(step).isEqualTo(amount);
        }
    }

    private Set<String> purchases() throws SQLException {
        return new HashSet<>(cluster.after().list(String.class, "SELECT id FROM purchase"));
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
