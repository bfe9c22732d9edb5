package io.rowlock.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.CountedStatements;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobOptions;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A limit that does not bind costs a worker few statements. */
@PostgresTest
@Tag("P12")
final class CostOfLimitsIT {
    private static final int JOBS = 10_000;
    private static final String[] OF_LIMITS = {
        "note-limits",
        "lock-limits",
        "room-of-limits",
        "take-of-limits",
        "promote-limited",
        "due-of-queues",
        "others-at-limits"
    };

    @Kind("call")
    private record Call(int no) {}

    private final TestSchema schema;

    CostOfLimitsIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void limit_of_a_queue_costs_at_most_a_fifth_more() throws Exception {
        CountedStatements statements = work(QueueLimits.none().running(1_000), options -> {});
        long limits = statements.of(OF_LIMITS);
        assertThat(limits).isBetween(1L, (statements.all() - limits) / 5);
    }

    @Test
    void limit_of_limit_keys_costs_at_most_three_fifths_more() throws Exception {
        CountedStatements statements = work(QueueLimits.none().runningPerKey(1_000), options -> options.limitKey("a"));
        long limits = statements.of(OF_LIMITS);
        assertThat(limits).isBetween(1L, (statements.all() - limits) * 3 / 5);
    }

    @Test
    void without_limits_a_worker_asks_for_none() throws Exception {
        CountedStatements statements = work(QueueLimits.none(), options -> options.limitKey("a"));
        assertThat(statements.of(OF_LIMITS)).isZero();
        assertThat(statements.of("keyed-candidates")).isPositive();
    }

    /** A worker does all jobs. By itself it asks for more only once an hour, so that no statements come of time alone. */
    private CountedStatements work(QueueLimits limits, Consumer<JobOptions> options) throws Exception {
        CountedStatements statements = new CountedStatements(schema);
        TestRowlock rowlock = TestRowlock.over(statements);
        rowlock.rowlock().queues().limit("default", limits, new By("op", "test"));
        rowlock.enqueueAll(IntStream.range(0, JOBS).mapToObj(Call::new).toList(), options);
        statements.clear();
        try (Worker worker = rowlock.start(config ->
                config.poll(Duration.ofHours(1)).lease(Duration.ofHours(1)).handle(Call.class, (call, job) -> {}))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(statements.all()).as("none per job").isLessThan(JOBS / 20);
        return statements;
    }
}
