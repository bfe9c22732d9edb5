package io.rowlock.guide;

// tag::test
import static io.rowlock.testkit.RowlockAssertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.TestJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

@PostgresTest // this class gets a schema of its own on a real PostgreSQL
class WelcomeIT {
    @Kind("welcome")
    record Welcome(String name) {}

    private final TestSchema schema;
    private final Rowlock rowlock;

    WelcomeIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @Test
    void a_failed_welcome_is_tried_again() throws Exception {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Welcome("Ada"));
            assertThat(rowlock.jobs().in(connection)).hasOne(Welcome.class).isWaiting(); // not committed yet
            connection.commit();
        }
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(Welcome.class, (welcome, job) -> {
            if (job.attempt() == 1) {
                throw new IllegalStateException("mail server is down");
            }
        }))) {
            worker.drain(); // runs on this thread whatever is due
            assertThat(rowlock.jobs()).hasOne(Welcome.class).isWaiting().lastFailedWith("down");
            worker.bringForward(); // no need to wait for the backoff
            worker.drain();
        }
        assertThat(rowlock.jobs()).hasOne(Welcome.class).isCompleted().hasAttempts(2);
    }

    @Test
    void a_handler_is_tested_alone() {
        TestJob job = TestJob.ofKind("welcome").id(7).attempt(2, 3).header("tenant", "acme");
        org.assertj.core.api.Assertions.assertThat(job.idempotencyKey()).isEqualTo("test-7");
    }
}
// end::test
