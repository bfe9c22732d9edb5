package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@PostgresTest
class ConcurrencyIT {
    private final TestSchema schema;
    private final Rowlock rowlock;

    ConcurrencyIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    /** A document to be sent to a partner's interface. */
    @Kind("partner-call")
    public record PartnerCall(String partner, int document) {}

    @Test
    void limits_over_all_workers() throws SQLException {
        // tag::limits
        QueueLimits limits = QueueLimits.none()
                .running(20) // of all its jobs at once
                .runningPerKey(2) // of those with one limit key
                .ratePerKey(100, Duration.ofMinutes(1));
        rowlock.queues().limit("partners", limits, new By("ada", "what the contract allows"));
        // end::limits
        assertThat(rowlock.queues().limitsOf("partners")).isEqualTo(limits);

        try (Connection connection = schema.begin()) {
            // tag::key
            rowlock.outbox()
                    .enqueue(
                            connection,
                            new PartnerCall("north", 17),
                            job -> job.queue("partners").limitKey("north"));
            // end::key
            connection.commit();
        }
        List<Integer> sent = new ArrayList<>();
        try (var worker = rowlock.handCrankedWorker(config ->
                config.queue("partners", 4).handle(PartnerCall.class, (call, job) -> sent.add(call.document())))) {
            worker.drain();
        }
        assertThat(sent).containsExactly(17);
    }
}
