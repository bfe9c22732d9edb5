package io.rowlock.fault;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker in another JVM, with an hour between two polls, is told of commits in this one. */
@PostgresTest
@Timeout(180)
final class OtherProcessIT {
    private final TestSchema schema;

    OtherProcessIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void its_worker_starts_a_job_as_soon_as_it_is_told_of_the_commit() throws Exception {
        try (Scene scene = Scene.empty(schema);
                ChildJvm child = ChildWorker.launch(
                        schema,
                        "there",
                        options -> options.poll(Duration.ofHours(1)).notifications())) {
            ChildWorker.awaitStarted(child);
            Rowlock here = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .schema(schema.name())
                    .notifications(true)
                    .build();
            for (int no = 1; no <= 5; no++) { // the first may be found by the first look of the worker
                try (Connection connection = schema.begin()) {
                    Enqueued job = here.outbox().enqueue(connection, Task.quick("task-" + no));
                    connection.commit();
                    here.wake(List.of(job));
                    scene.awaitState(job.id(), "completed");
                }
            }
        }
    }
}
