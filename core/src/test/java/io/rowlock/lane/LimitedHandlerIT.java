package io.rowlock.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A handler with a limit of its own drains its jobs slot by slot, without waiting for the next poll. */
@PostgresTest
@Tag("P2")
class LimitedHandlerIT {
    private static final int JOBS = 60;

    @Kind("limited")
    record Limited(int n) {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void a_freed_slot_of_a_limited_handler_is_used_at_once(int limit, TestSchema schema) throws SQLException {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .tablePrefix("limit" + limit + "_")
                .build();
        rowlock.schema().install();
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Worker worker = rowlock.worker(w -> w.queue("default", 16)
                .queue("other", 16)
                .poll(Duration.ofHours(1)) // nothing but wake-ups and freed slots
                .handle(
                        Limited.class,
                        (limited, job) -> {
                            most.accumulateAndGet(now.incrementAndGet(), Math::max);
                            now.decrementAndGet();
                        },
                        h -> h.concurrency(limit)));
        worker.start();
        rowlock.wake(enqueue(schema, rowlock));
        await().atMost(Duration.ofSeconds(60))
                .until(() -> rowlock.jobs().counts().get(JobState.COMPLETED) == JOBS);
        worker.stop(Duration.ofSeconds(5));
        assertThat(most.get()).isBetween(1, limit);
    }

    private static List<Enqueued> enqueue(TestSchema schema, Rowlock rowlock) throws SQLException {
        List<JobRequest<?>> jobs = new ArrayList<>();
        for (int n = 0; n < JOBS; n++) {
            int each = n;
            jobs.add(JobRequest.of(
                    new Limited(n),
                    job -> job.queue(each % 5 == 0 ? "other" : "default")
                            .priority(Priority.ofLevel(each % 7 == 0 ? each % 3 : 1))));
        }
        try (Connection connection = schema.begin()) {
            List<Enqueued> written = rowlock.outbox().enqueueAll(connection, jobs);
            connection.commit();
            return written;
        }
    }
}
