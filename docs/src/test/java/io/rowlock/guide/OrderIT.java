package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.Queues;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

@PostgresTest
class OrderIT {
    private final TestSchema schema;
    private final Rowlock rowlock;

    OrderIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    /** A change of a stock, to be told to a warehouse. */
    @Kind("stock-changed")
    public record StockChanged(String article, int now) {}

    @Test
    void a_key() throws SQLException {
        List<Integer> told = new ArrayList<>();
        try (Connection connection = schema.begin()) {
            // tag::key
            rowlock.outbox().enqueue(connection, new StockChanged("bolt", 7), job -> job.orderingKey("bolt"));
            rowlock.outbox().enqueue(connection, new StockChanged("bolt", 6), job -> job.orderingKey("bolt"));
            // end::key
            connection.commit();
        }
        try (var worker = rowlock.handCrankedWorker(
                config -> config.handle(StockChanged.class, (stock, job) -> told.add(stock.now())))) {
            worker.drain();
        }
        Assertions.assertThat(told).containsExactly(7, 6);
    }

    @Test
    void a_dead_head() throws SQLException {
        schema.execute("TRUNCATE rowlock_job, rowlock_key, rowlock_queue");
        long dead;
        try (Connection connection = schema.begin()) {
            dead = rowlock.outbox()
                    .enqueue(connection, new StockChanged("nut", -1), job -> job.orderingKey("nut"))
                    .id();
            rowlock.outbox().enqueue(connection, new StockChanged("nut", 3), job -> job.orderingKey("nut"));
            connection.commit();
        }
        try (var worker = rowlock.handCrankedWorker(config -> config.handle(StockChanged.class, (stock, job) -> {
            if (stock.now() < 0) {
                throw new PermanentFailure("a stock cannot be negative");
            }
        }))) {
            Assertions.assertThat(worker.drain()).isEqualTo(1);
            // tag::operations
            Jobs jobs = rowlock.jobs();
            By me = new By("ada", "the supplier corrected it");
            jobs.skip(dead, me); // the dead one stays dead, those behind it go on
            jobs.revive(dead, me); // or: it runs again, before those behind it
            Cancellation answer = jobs.cancel(dead, me); // STOPPED, REQUESTED, ALREADY_FINISHED or UNKNOWN
            // end::operations
            Assertions.assertThat(answer).isEqualTo(Cancellation.STOPPED);
            Assertions.assertThat(worker.drain()).isEqualTo(1);
        }
        Assertions.assertThat(jobState(dead)).isEqualTo(JobState.CANCELLED);
    }

    private JobState jobState(long id) {
        return rowlock.jobs().find(id).orElseThrow(IllegalStateException::new).state();
    }

    @Test
    void queues() throws SQLException {
        // tag::queues
        Queues queues = rowlock.queues();
        queues.deadHead(
                "default", DeadHead.PASS, new By("ada", "followers need not wait")); // BLOCK unless said otherwise
        queues.pause("default", new By("ada", "the warehouse is closed"));
        queues.resume("default", new By("ada", "open again"));
        // end::queues
        Assertions.assertThat(queues.pauseOf("default")).isEmpty();
        try (Connection connection = schema.begin()) {
            rowlock.outbox()
                    .enqueue(
                            connection,
                            new StockChanged("bolt", 1),
                            job -> job.after(Duration.ofDays(1)).subject("Article:bolt"));
            connection.commit();
        }
        assertThat(rowlock.jobs()).hasOneAbout("Article:bolt").isWaiting();
    }
}
