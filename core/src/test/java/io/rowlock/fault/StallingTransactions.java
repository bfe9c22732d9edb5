package io.rowlock.fault;

import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;

/** Runs transactional handlers, and stands still at one point of the transaction, where a test may kill or pause. */
final class StallingTransactions implements TransactionRunner<Connection> {
    private final ConnectionSource source;
    private final Point stallAt;
    private final CountDownLatch gate = new CountDownLatch(1);

    enum Point {
        NOWHERE,
        LOCKED,
        WRITTEN,
        COMPLETED,
        COMMITTED
    }

    StallingTransactions(ConnectionSource source, Point stallAt) {
        this.source = source;
        this.stallAt = stallAt;
    }

    /** Lets it go on, now and later. */
    void goOn() {
        gate.countDown();
    }

    @Override
    public void run(Work<Connection> work) throws Exception {
        try (Connection connection = source.get()) {
            connection.setAutoCommit(false);
            work.begun(connection);
            at(Point.LOCKED);
            work.handle(connection);
            at(Point.WRITTEN);
            work.completing(connection);
            at(Point.COMPLETED);
            connection.commit();
            at(Point.COMMITTED);
        }
    }

    private void at(Point point) throws InterruptedException {
        if (point == stallAt) {
            System.out.println("stalls " + point);
            gate.await();
        }
    }
}
