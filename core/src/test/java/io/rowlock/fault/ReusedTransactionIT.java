package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A primary dies with a handler's transaction that its standby has not heard of. The standby gives the same id to another
 * transaction and commits that: nobody may take it for the handler's.
 */
@Tag("P2")
@Tag("P4")
@Tag("B51")
@Timeout(240)
final class ReusedTransactionIT {
    private static final int OTHERS = 200;
    private static final JobKind<Booking> BOOKING = JobKind.of(Booking.class);

    private final CountDownLatch claimed = new CountDownLatch(1);
    private final CountDownLatch standbyIsDeaf = new CountDownLatch(1);
    private final CountDownLatch locked = new CountDownLatch(1);
    private final CountDownLatch othersHaveCommitted = new CountDownLatch(1);

    @Test
    void handler_that_lost_its_server_is_not_taken_for_one_that_committed() throws Exception {
        try (OwnPostgres primary = TestPostgres.embedded(PostgresOptions::durable);
                OwnPostgres standby = primary.standby();
                TcpProxy proxy = TcpProxy.to(primary)) {
            TestSchema schema = TestSchema.create(primary, "reused");
            try (Scene before = Scene.empty(schema)) {
                TestSchema later = TestSchema.existing(standby, schema.name());
                long job = before.enqueue(new Booking("a"));
                Rowlock rowlock = before.rowlock(proxy.dataSource(schema)::getConnection);
                before.start(
                        rowlock,
                        worker -> worker.lease(Duration.ofMinutes(2))
                                .handleTransactionally(
                                        BOOKING,
                                        new Gated(proxy.dataSource(schema)::getConnection),
                                        (booking, run, connection) -> book(run.attempt(), connection),
                                        options -> options.retry(
                                                RetryPolicy.fixed(Duration.ZERO).maxAttempts(3))));
                claimed.await();
                patiently()
                        .until(() -> later.count("SELECT count(*) FROM rowlock_job WHERE locked_by IS NOT NULL") == 1);
                standby.stop();
                standbyIsDeaf.countDown();
                locked.await();
                primary.kill();
                standby.start();
                standby.promote();
                for (int i = 0; i < OTHERS; i++) {
                    later.list(String.class, "SELECT pg_current_xact_id()::text");
                }
                proxy.redirect(standby);
                othersHaveCommitted.countDown();
                patiently()
                        .until(
                                () -> later.list(String.class, "SELECT state FROM rowlock_job WHERE id = ?", job),
                                states -> !states.contains("ready"));
                assertThat(later.list(String.class, "SELECT state || ' ' || attempts FROM rowlock_job"))
                        .containsExactly("completed 2");
            }
        }
    }

    private void book(int attempt, Connection connection) throws Exception {
        if (attempt == 1) {
            locked.countDown();
            othersHaveCommitted.await();
        }
        connection.createStatement().execute("SELECT 1");
    }

    /** Its first transaction begins only when the standby hears nothing any more. */
    private final class Gated implements TransactionRunner<Connection> {
        private final ConnectionSource source;

        Gated(ConnectionSource source) {
            this.source = source;
        }

        @Override
        public void run(Work<Connection> work) throws Exception {
            claimed.countDown();
            standbyIsDeaf.await();
            try (Connection connection = source.get()) {
                connection.setAutoCommit(false);
                work.begun(connection);
                work.handle(connection);
                work.completing(connection);
                connection.commit();
            }
        }
    }
}
