package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A leased handler runs for long, under a server that ends idle transactions and long waits for locks. */
@PostgresTest
@Tag("P5")
@Tag("B57")
@Timeout(180)
final class OpenTransactionIT {
    private static final String ENGINE = "engine-under-test";

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    OpenTransactionIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
        schema.execute("DROP TABLE IF EXISTS business; CREATE TABLE business (id int PRIMARY KEY, n int);"
                + " INSERT INTO business VALUES (1, 0)");
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void no_transaction_is_open_and_no_row_is_locked_while_a_leased_handler_runs() throws Exception {
        PGSimpleDataSource strict = schema.dataSource();
        strict.setApplicationName(ENGINE);
        strict.setOptions("-c idle_in_transaction_session_timeout=300ms -c lock_timeout=200ms");
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.waiting("long"));
        scene.start(
                scene.rowlock(strict::getConnection, heard),
                worker -> worker.lease(Scene.LEASE).handle(Task.class, (task, context) -> {
                    schema.execute("UPDATE business SET n = n + 1 WHERE id = 1");
                    handler.handle(task, context);
                }));
        scene.awaitStart("long", "worker");
        AtomicBoolean transactionSeen = new AtomicBoolean();
        long firstLease = leasedUntil(job);
        patiently().pollInterval(Duration.ofMillis(20)).until(() -> {
            transactionSeen.compareAndSet(false, engineStates().stream().anyMatch(s -> s.startsWith("idle in trans")));
            return leasedUntil(job) > firstLease + Scene.LEASE.toMillis();
        });
        assertThat(transactionSeen).isFalse();
        assertThat(engineStates()).isNotEmpty();
        assertThat(schema.update("UPDATE business SET n = n + 1 WHERE id = 1")).isOne();
        lockAtOnce(job);

        handler.openAll();
        scene.awaitState(job, "completed");
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.number(job, "losses")).isZero();
        assertThat(schema.count("SELECT n::bigint FROM business")).isEqualTo(2);
        assertThat(heard.of(LoopFailed.class)).isEmpty();
    }

    private List<String> engineStates() throws SQLException {
        return schema.list(String.class, "SELECT state FROM pg_stat_activity WHERE application_name = ?", ENGINE);
    }

    private long leasedUntil(long job) throws SQLException {
        return schema.count(
                "SELECT (extract(epoch FROM locked_until) * 1000)::bigint FROM rowlock_job WHERE id = ?", job);
    }

    /** Nothing holds the row's lock; a heartbeat that touches it at this instant is over at once. */
    private void lockAtOnce(long job) throws SQLException {
        try (Connection other = schema.begin();
                Statement statement = other.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = '2s'");
            statement.execute("SELECT id FROM rowlock_job WHERE id = " + job + " FOR UPDATE");
            other.rollback();
        }
    }
}
