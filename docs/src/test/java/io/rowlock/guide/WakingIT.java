package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

@PostgresTest
class WakingIT {
    @Kind("ping")
    public record Ping(int n) {}

    private final TestSchema schema;

    WakingIT(TestSchema schema) {
        this.schema = schema;
    }

    /** A transaction manager of one's own. */
    private static final class Transactions {
        private final Map<Connection, List<Runnable>> open = new ConcurrentHashMap<>();

        /** Says whether it knows the transaction of this connection. */
        boolean afterCommit(Connection connection, Runnable action) {
            List<Runnable> actions = open.get(connection);
            return actions != null && actions.add(action);
        }

        void begin(Connection connection) {
            open.put(connection, new ArrayList<>());
        }

        void commit(Connection connection) throws SQLException {
            List<Runnable> actions = open.remove(connection);
            connection.commit();
            actions.forEach(Runnable::run);
        }
    }

    @Test
    void a_commit_wakes_a_worker_of_another_process() throws SQLException {
        Transactions transactions = new Transactions();
        // tag::after-commit
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .afterCommit(transactions::afterCommit) // (connection, action) -> known?
                .notifications(true) // other processes too
                .build();
        // end::after-commit
        rowlock.schema().install();
        Rowlock other = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .notifications(true)
                .build();
        Worker worker = other.worker(w -> w.poll(Duration.ofHours(1)).handle(Ping.class, (ping, job) -> {}));
        worker.start();
        await().until(() -> worker.health().sinceClaim() != null);
        try (Connection connection = schema.begin()) {
            transactions.begin(connection);
            rowlock.outbox().enqueue(connection, new Ping(1));
            transactions.commit(connection);
        }
        await().until(() -> rowlock.jobs().ofKind("ping").get(0).state().terminal());
        assertThat(worker.health().up()).isTrue();
        worker.stop(Duration.ofSeconds(30));
    }
}
