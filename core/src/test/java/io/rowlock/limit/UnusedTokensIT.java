package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What was taken of a rate and not used goes back to its window: nobody runs out of a day's rate in vain. */
@PostgresTest
final class UnusedTokensIT {
    private static final Duration DAY = Duration.ofDays(1);
    private static final String USED = "SELECT coalesce(sum(window_used), 0) FROM rowlock_limit";
    private static final int BLOCKS = -1;
    private static final int WARMS_UP = -2;

    @Kind("call")
    private record Call(int no) {}

    @Kind("other")
    private record Other(int no) {}

    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger began = new AtomicInteger();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @AfterEach
    void open() {
        gate.countDown();
    }

    @Test
    void tokens_that_a_worker_cannot_use_as_its_handler_is_busy_are_there_for_others() throws Exception {
        limit(QueueLimits.none().rate(8, DAY));
        rowlock.enqueueAll(calls(0, 8));
        try (Worker busy = rowlock.work(config -> config.queue("default", 8)
                .handle(Call.class, (call, job) -> block(), handler -> handler.concurrency(1)))) {
            soon().until(() -> began.get() == 1);
            try (Worker other = rowlock.work(
                    config -> config.queue("default", 8).handle(Call.class, (call, job) -> began.incrementAndGet()))) {
                soon().until(() -> began.get() == 8);
                assertThat(schema.count(USED)).isEqualTo(8);
                assertThat(other.health().up()).isTrue();
            }
            gate.countDown();
            assertThat(busy.health().up()).isTrue();
        }
    }

    @Test
    void tokens_taken_for_jobs_that_were_parked_as_their_limit_key_is_full_are_there_for_others() throws Exception {
        limit(QueueLimits.none().rate(5, DAY).runningPerKey(1));
        rowlock.enqueueAll(calls(0, 5), options -> options.limitKey("a"));
        AtomicInteger others = new AtomicInteger();
        try (Worker full =
                rowlock.work(config -> config.queue("default", 8).handle(Call.class, (call, job) -> block()))) {
            soon().until(() -> began.get() == 1 && rowlock.count(JobState.PARKED) == 4);
            try (Worker other = rowlock.work(config ->
                    config.queue("default", 8).handle(Other.class, (call, job) -> others.incrementAndGet()))) {
                rowlock.enqueueAll(IntStream.range(0, 4).mapToObj(Other::new).toList());
                soon().until(() -> others.get() == 4);
                assertThat(other.health().up()).isTrue();
            }
            assertThat(schema.count(USED + " WHERE limit_key = ''")).isEqualTo(5);
            rowlock.rowlock().queues().limit("default", QueueLimits.none(), new By("op", "test"));
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(full.health().up()).isTrue();
        }
    }

    @Test
    void followers_of_a_failing_head_which_never_began_use_up_no_rate_of_their_limit_key() throws Exception {
        limit(QueueLimits.none().ratePerKey(30, DAY));
        try (Worker worker = rowlock.work(config -> config.queue("default", 2)
                .handle(
                        Call.class,
                        (call, job) -> {
                            if (call.no() == 0 && job.attempt() < 5) {
                                throw new IllegalStateException("on purpose");
                            }
                        },
                        handler -> handler.retry(RetryPolicy.fixed(Duration.ofMillis(100)))))) {
            rowlock.enqueueAll(calls(WARMS_UP, 30)); // so that runs are long
            rowlock.awaitAllEnded();
            rowlock.enqueueAll(calls(0, 10), options -> options.orderingKey("k").limitKey("a"));

            rowlock.awaitAllEnded();
            assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(40);
            assertThat(schema.count(USED))
                    .as("five attempts of the head, and nine followers")
                    .isEqualTo(14);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void parked_jobs_of_a_limit_key_have_what_the_followers_of_a_failing_head_gave_back() throws Exception {
        limit(QueueLimits.none().ratePerKey(12, DAY));
        try (Worker worker = rowlock.work(config -> config.queue("default", 2)
                .handle(
                        Call.class,
                        (call, job) -> {
                            if (call.no() == 0) {
                                block();
                                throw new IllegalStateException("on purpose");
                            }
                        },
                        handler -> handler.retry(RetryPolicy.fixed(Duration.ofHours(1)))))) {
            rowlock.enqueueAll(calls(WARMS_UP, 200));
            rowlock.awaitAllEnded();
            rowlock.enqueueAll(calls(0, 10), options -> options.orderingKey("k").limitKey("a"));
            soon().until(() -> began.get() == 1);
            long run = schema.count(USED);
            assertThat(run).as("jobs of the run").isGreaterThan(1);
            rowlock.enqueueAll(calls(WARMS_UP, 12), options -> options.limitKey("a"));
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE limited") == run);

            gate.countDown();
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 200 + 11);
            assertThat(schema.count(USED)).isEqualTo(12);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void jobs_claimed_ahead_which_a_stop_hands_back_use_up_no_rate() throws Exception {
        limit(QueueLimits.none().rate(2_000, DAY).ratePerKey(2_000, DAY));
        Worker worker = rowlock.work(config -> config.queue("default", 1).handle(Call.class, (call, job) -> {
            if (call.no() == BLOCKS) {
                block();
            }
        }));
        rowlock.enqueueAll(calls(WARMS_UP, 40));
        rowlock.awaitAllEnded();
        List<JobRequest<?>> requests = new ArrayList<>();
        requests.add(JobRequest.of(new Call(BLOCKS)));
        calls(0, 200).forEach(call -> requests.add(JobRequest.of(call)));
        calls(0, 200).forEach(call -> requests.add(JobRequest.of(call, options -> options.limitKey("a"))));
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, requests));
        soon().until(() ->
                began.get() == 1 && schema.count("SELECT count(*) FROM rowlock_job WHERE locked_by IS NOT NULL") > 2);

        worker.stop(Duration.ZERO);
        gate.countDown();

        long begun = 441 - rowlock.count(JobState.READY) - rowlock.count(JobState.PARKED);
        assertThat(schema.count(USED + " WHERE limit_key = ''")).isBetween(begun, begun + 1);
        assertThat(schema.count(USED + " WHERE limit_key = 'a'")).isLessThanOrEqualTo(begun - 40);
    }

    private void block() throws InterruptedException {
        began.incrementAndGet();
        assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue();
    }

    private static List<Call> calls(int first, int jobs) {
        return IntStream.range(first, first + jobs)
                .mapToObj(no -> new Call(first < 0 ? first : no))
                .toList();
    }

    private void limit(QueueLimits limits) {
        rowlock.rowlock().queues().limit("default", limits, new By("op", "test"));
    }
}
