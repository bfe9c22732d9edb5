package io.rowlock.tx;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The standby is promoted, and the old primary stays up and takes no writes: a pool keeps its connections to it. */
@Tag("B51")
@Timeout(180)
final class SwitchOverIT {
    private static final int POOL = 5;

    @Kind("payment")
    private record Payment(int id) {}

    private OwnPostgres primary;
    private OwnPostgres standby;
    private TcpProxy proxy;
    private HikariDataSource pool;
    private TestSchema before;
    private TestSchema after;

    @BeforeEach
    void begin() throws SQLException {
        primary = TestPostgres.embedded(PostgresOptions::durable);
        before = TestSchema.create(primary, "switch_over");
        before.execute("CREATE TABLE paid (id int)");
        Rowlock.builder()
                .dataSource(before.dataSource())
                .schema(before.name())
                .build()
                .schema()
                .install();
        standby = primary.synchronousStandby();
        after = TestSchema.existing(standby, before.name());
        proxy = TcpProxy.to(primary);
        HikariConfig config = new HikariConfig();
        config.setDataSource(proxy.dataSource(before));
        config.setMaximumPoolSize(POOL);
        config.setMinimumIdle(POOL);
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void end() {
        pool.close();
        proxy.close();
        standby.close();
        primary.close();
    }

    @Test
    void a_transaction_leaves_the_demoted_server_and_takes_its_connections_out_of_the_pool() throws Exception {
        fillPool();
        switchOver();
        List<Integer> attempts = new ArrayList<>();

        for (int i = 1; i <= 2 * POOL; i++) {
            int id = i;
            Transactions.retrying(pool, TransactionRetry.standard().ofIdempotentWork(), connection -> {
                attempts.add(id);
                return connection.createStatement().executeUpdate("INSERT INTO paid VALUES (" + id + ")");
            });
        }

        assertThat(after.list(Integer.class, "SELECT id FROM paid ORDER BY 1"))
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        assertThat(before.count("SELECT count(*) FROM paid")).isZero();
        assertThat(attempts)
                .as("each connection to the old server is met at most once")
                .hasSizeBetween(2 * POOL + 1, 3 * POOL);
    }

    @Test
    void what_a_person_asks_for_fails_at_most_once_for_each_connection_to_the_demoted_server() throws Exception {
        Rowlock rowlock =
                Rowlock.builder().dataSource(pool).schema(before.name()).build();
        fillPool();
        switchOver();

        Awaitility.await()
                .ignoreExceptions()
                .until(() -> rowlock.queues().pause("default", new By("ada", "after the switch-over")));

        assertThat(after.count("SELECT count(*) FROM rowlock_queue WHERE paused_at IS NOT NULL"))
                .isOne();
    }

    @Test
    void transactional_handlers_leave_the_demoted_server_too() throws Exception {
        Rowlock rowlock =
                Rowlock.builder().dataSource(pool).schema(before.name()).build();
        Worker worker = rowlock.worker(settings -> settings.poll(Duration.ofMillis(50))
                .lease(Duration.ofSeconds(3))
                .queue("default", 1)
                .handleTransactionally(
                        Payment.class,
                        (payment, job, connection) -> connection
                                .createStatement()
                                .executeUpdate("INSERT INTO paid VALUES (" + payment.id() + ")"),
                        options -> options.retry(
                                RetryPolicy.fixed(Duration.ofMillis(20)).maxAttempts(2 * POOL))));
        fillPool();
        worker.start();
        switchOver();
        try (Connection connection = standby.connect()) {
            connection.createStatement().execute("SET search_path TO " + before.name());
            connection.setAutoCommit(false);
            for (int i = 1; i <= POOL; i++) {
                rowlock.outbox().enqueue(connection, new Payment(i));
            }
            connection.commit();
        }

        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> after.count("SELECT count(*) FROM paid") == POOL);
        worker.stop(Duration.ofSeconds(5));
        assertThat(after.count("SELECT count(DISTINCT id) FROM paid")).isEqualTo(POOL);
        assertThat(after.count("SELECT count(*) FROM rowlock_job WHERE state <> 'completed'"))
                .isZero();
    }

    private void fillPool() throws SQLException {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < POOL; i++) {
            all.add(pool.getConnection());
        }
        for (Connection each : all) {
            each.close();
        }
    }

    private void switchOver() throws SQLException {
        before.execute("ALTER SYSTEM SET default_transaction_read_only = on");
        before.execute("SELECT pg_reload_conf()");
        Awaitility.await()
                .until(() -> before.list(String.class, "SHOW default_transaction_read_only")
                        .contains("on"));
        standby.promote();
        proxy.redirect(standby);
    }
}
