package io.rowlock.guide;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

@PostgresTest
class WorkersIT {
    @Kind("ping")
    public record Ping(int n) {}

    private final TestSchema schema;
    private final List<RowlockEvent> dead = new CopyOnWriteArrayList<>();

    WorkersIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void a_worker_from_start_to_stop() throws SQLException {
        // tag::listener
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .listener(event -> {
                    if (event instanceof RowlockEvent.JobDied died) {
                        dead.add(died); // also a row in rowlock_alert
                    }
                })
                .build();
        // end::listener
        rowlock.schema().install();
        // tag::worker
        Worker worker = rowlock.worker(w -> w.name("mailer")
                .queue("default", 32)
                .queue("reports", 2)
                .lease(ofSeconds(60))
                .poll(ofMillis(500))
                .keepCompleted(ofDays(7))
                .handle(Ping.class, (ping, job) -> {}));
        worker.start(); // waits for the database; throws SchemaException if its tables are not there
        Runtime.getRuntime().addShutdownHook(new Thread(() -> worker.stop(ofSeconds(30))));
        // end::worker
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Ping(1));
            connection.commit();
        }
        await().until(() -> rowlock.jobs().ofKind("ping").get(0).state().terminal());
        // tag::health
        WorkerHealth health = worker.health(); // asks the worker, not the database
        boolean ready = health.up(); // running, and no loop of the engine fails
        // end::health
        assertThat(ready).isTrue();
        assertThat(dead).isEmpty();
        worker.stop(ofSeconds(30));
        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
    }
}
