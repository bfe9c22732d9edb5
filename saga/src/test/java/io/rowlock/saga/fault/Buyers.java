package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.job.Kind;
import io.rowlock.saga.engine.SagaEngine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Clients that buy one thing after the other, whatever happens: each in one transaction with two jobs and, now and then, a saga. */
final class Buyers implements AutoCloseable {
    /** A mail about a purchase, sent by a leased handler. */
    @Kind("mail")
    record Mail(String purchase) {}

    /** An entry of a purchase, made by a transactional handler. */
    @Kind("entry")
    record Entry(String purchase) {}

    private static final int EACH_SAGA = 4;

    private final DataSource pool;
    private final Rowlock rowlock;
    private final SagaEngine sagas;
    private final Set<String> confirmed = ConcurrentHashMap.newKeySet();
    private final Set<String> doubtful = ConcurrentHashMap.newKeySet();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean open = true;

    Buyers(DataSource pool, Rowlock rowlock, SagaEngine sagas, int number) {
        this.pool = pool;
        this.rowlock = rowlock;
        this.sagas = sagas;
        for (int i = 0; i < number; i++) {
            String name = "buyer-" + i;
            Thread thread = new Thread(() -> buy(name), name);
            threads.add(thread);
            thread.start();
        }
    }

    /** Purchases whose commit was confirmed. */
    Set<String> confirmed() {
        return confirmed;
    }

    /** Purchases whose transaction failed somewhere, perhaps after it was committed. */
    Set<String> doubtful() {
        return doubtful;
    }

    private void buy(String buyer) {
        for (int i = 0; open; i++) {
            String purchase = buyer + '-' + i;
            try {
                buy(purchase, i % EACH_SAGA == 0);
                confirmed.add(purchase);
            } catch (SQLException | DatabaseException e) {
                doubtful.add(purchase);
            }
        }
    }

    private void buy(String purchase, boolean withSaga) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO purchase (id) VALUES (?)")) {
                insert.setString(1, purchase);
                insert.executeUpdate();
            } catch (SQLException e) {
                if ("25006".equals(e.getSQLState())) {
                    connection.abort(Runnable::run);
                }
                throw e;
            }
            rowlock.outbox().enqueue(connection, new Mail(purchase));
            rowlock.outbox().enqueue(connection, new Entry(purchase));
            if (withSaga) {
                sagas.sagas().start(connection, Shop.BUY, purchase, Purchase.of(purchase, ""));
            }
            connection.commit();
        }
    }

    /** They buy no more. Blocks until the last purchase has ended. */
    @Override
    public void close() {
        open = false;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
