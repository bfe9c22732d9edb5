package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Parked jobs do not wait for a poll where something else says when there is room for them. */
@PostgresTest
@Tag("P2")
final class FarPollIT {
    private static final Duration FAR = Duration.ofHours(1);

    @Kind("call")
    private record Call(int no) {}

    private final AtomicInteger done = new AtomicInteger();
    private final TestSchema schema;

    FarPollIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void each_window_of_a_limit_key_is_used_however_far_apart_polls_are() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        limit(rowlock, QueueLimits.none().ratePerKey(1, Duration.ofSeconds(3)));
        rowlock.enqueueAll(IntStream.range(0, 4).mapToObj(Call::new).toList(), options -> options.limitKey("a"));
        try (Windows windows = new Windows(schema);
                Worker worker = rowlock.start(
                        config -> config.poll(FAR).handle(Call.class, (call, job) -> done.incrementAndGet()))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
            assertThat(windows.used("a")).containsExactly(1, 1, 1, 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"more in a window", "shorter windows", "none"})
    void larger_rate_of_a_key_holds_at_once_where_it_is_set(String change) throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        limit(rowlock, QueueLimits.none().ratePerKey(1, Duration.ofDays(300)));
        try (Worker worker =
                rowlock.start(config -> config.poll(FAR).handle(Call.class, (call, job) -> done.incrementAndGet()))) {
            rowlock.rowlock()
                    .wake(rowlock.enqueueAll(
                            IntStream.range(0, 6).mapToObj(Call::new).toList(), options -> options.limitKey("a")));
            soon().until(() -> done.get() == 1 && rowlock.count(JobState.PARKED) == 5);

            limit(
                    rowlock,
                    switch (change) {
                        case "more in a window" -> QueueLimits.none().ratePerKey(100, Duration.ofDays(300));
                        case "shorter windows" -> QueueLimits.none().ratePerKey(100, Duration.ofSeconds(1));
                        default -> QueueLimits.none();
                    });

            soon().until(() -> done.get() == 6 && worker.health().running() == 0);
        }
    }

    @Test
    void limit_key_of_a_worker_that_stops_is_handed_on_to_another_one_of_the_same_process() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        handsOn(rowlock, rowlock.rowlock());
    }

    @Test
    void limit_key_of_a_worker_that_stops_is_handed_on_to_one_that_listens_in_another_process() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema, builder -> builder.notifications(true));
        handsOn(
                rowlock,
                Rowlock.builder()
                        .dataSource(schema.dataSource())
                        .schema(schema.name())
                        .notifications(true)
                        .build());
    }

    private void handsOn(TestRowlock rowlock, Rowlock others) throws Exception {
        limit(rowlock, QueueLimits.none().runningPerKey(1));
        CountDownLatch gate = new CountDownLatch(1);
        rowlock.enqueue(new Call(0), options -> options.limitKey("a"));
        try (Worker stops = rowlock.start(config -> config.poll(FAR)
                .handle(
                        Call.class,
                        (call, job) ->
                                assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue()))) {
            soon().until(() -> stops.health().running() == 1);
            rowlock.rowlock().wake(List.of(rowlock.enqueue(new Call(1), options -> options.limitKey("a"))));
            soon().until(() -> rowlock.count(JobState.PARKED) == 1);
            try (Worker other = others.worker(
                    config -> config.poll(FAR).handle(Call.class, (call, job) -> done.incrementAndGet()))) {
                other.start();
                soon().until(() -> other.health().sinceClaim() != null);
                Thread stopping = new Thread(() -> stops.stop(Duration.ofMinutes(1)));
                stopping.start();
                soon().until(() -> stops.health().state().name().equals("STOPPING"));
                gate.countDown();
                stopping.join();

                soon().until(() -> done.get() == 1);
                assertThat(other.health().up()).isTrue();
            }
        }
    }

    private static void limit(TestRowlock rowlock, QueueLimits limits) {
        rowlock.rowlock().queues().limit("default", limits, new By("op", "test"));
    }
}
