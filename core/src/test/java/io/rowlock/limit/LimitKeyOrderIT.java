package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which of the parked jobs of a full limit key come first: by the shares of their levels, and only those that are due. */
@PostgresTest
@Tag("P2")
final class LimitKeyOrderIT {
    private static final int ROUND = 16;

    @Kind("call")
    private record Call(Priority priority) {}

    private final CountDownLatch gate = new CountDownLatch(1);
    private final List<Priority> order = new CopyOnWriteArrayList<>();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        rowlock.rowlock().queues().limit("default", QueueLimits.none().runningPerKey(1), new By("op", "test"));
    }

    @AfterEach
    void open() {
        gate.countDown();
    }

    @Test
    void of_sixteen_places_in_a_full_limit_key_high_has_twelve_normal_three_and_low_one() throws Exception {
        enqueue(3 * ROUND, Priority.HIGH);
        try (Worker worker = rowlock.work(config -> config.queue("default", 4).handle(Call.class, (call, job) -> {
            if (order.isEmpty()) {
                assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue();
            }
            order.add(call.priority());
        }))) {
            soon().until(() -> parked() == 3 * ROUND - 1);
            enqueue(12, Priority.NORMAL);
            enqueue(4, Priority.LOW);
            soon().until(() -> parked() == 4 * ROUND - 1);
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        for (int from = 1; from < 3 * ROUND; from += ROUND) {
            List<Priority> round = order.subList(from, from + ROUND);
            assertThat(Collections.frequency(round, Priority.NORMAL))
                    .as("%s", round)
                    .isEqualTo(3);
            assertThat(Collections.frequency(round, Priority.LOW))
                    .as("%s", round)
                    .isEqualTo(1);
        }
    }

    @Test
    void lower_jobs_of_a_limit_key_go_on_under_an_endless_flood_of_high_ones_over_two_workers() throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        enqueue(20, Priority.HIGH);
        enqueue(20, Priority.NORMAL);
        enqueue(5, Priority.LOW);
        Consumer<Call> work = call -> {
            order.add(call.priority());
            if (call.priority() == Priority.HIGH && !ends.get()) {
                again(call);
            }
        };
        try (Worker one = rowlock.work(
                        config -> config.queue("default", 4).handle(Call.class, (call, job) -> work.accept(call)));
                Worker two = rowlock.work(
                        config -> config.queue("default", 4).handle(Call.class, (call, job) -> work.accept(call)))) {
            soon().until(() -> Collections.frequency(order, Priority.LOW) == 5
                    && Collections.frequency(order, Priority.NORMAL) == 20);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE priority = 0 AND state <> 'completed'"))
                    .as("the flood went on")
                    .isPositive();
            ends.set(true);
            rowlock.awaitAllEnded();
            assertThat(one.health().up() && two.health().up()).isTrue();
        }
        int all = order.lastIndexOf(Priority.LOW) + 1;
        assertThat(all).as("a round of each worker for each low job").isLessThanOrEqualTo(5 * 2 * ROUND + ROUND);
    }

    @Test
    void parked_jobs_that_were_pushed_back_take_no_places_from_those_that_are_due() throws Exception {
        enqueue(1, Priority.LOW);
        try (Worker worker = rowlock.start(config -> config.poll(Duration.ofMinutes(5))
                .queue("default", 4)
                .handle(Call.class, (call, job) -> {
                    if (call.priority() == Priority.LOW) {
                        assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue();
                    }
                    order.add(call.priority());
                }))) {
            soon().until(() -> worker.health().running() == 1);
            for (int i = 0; i < 30; i++) {
                rowlock.rowlock().wake(List.of(pushBack("job-" + i, Duration.ZERO)));
            }
            rowlock.rowlock().wake(enqueue(5, Priority.NORMAL));
            soon().until(() -> parked() == 35);
            for (int i = 0; i < 30; i++) {
                pushBack("job-" + i, Duration.ofHours(1));
            }

            gate.countDown();
            soon().until(() -> Collections.frequency(order, Priority.NORMAL) == 5);
            assertThat(order).doesNotContain(Priority.HIGH);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void parked_jobs_that_were_pushed_back_wait_for_their_own_time_outside_the_limit_key() throws Exception {
        enqueue(1, Priority.LOW);
        try (Worker worker = rowlock.work(config -> config.queue("default", 4)
                .handle(
                        Call.class,
                        (call, job) ->
                                assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue()))) {
            soon().until(() -> worker.health().running() == 1);
            pushBack("job", Duration.ZERO);
            soon().until(() -> parked() == 1);
            pushBack("job", Duration.ofHours(1));

            soon().until(() -> parked() == 0);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND NOT limited"
                            + " AND run_at > clock_timestamp() + interval '59 minutes'"))
                    .isEqualTo(1);
            assertThat(worker.health().up()).isTrue();
        }
    }

    private Enqueued pushBack(String dedupKey, Duration by) throws Exception {
        return rowlock.enqueue(
                new Call(Priority.HIGH),
                options -> options.limitKey("a")
                        .priority(Priority.HIGH)
                        .after(by)
                        .dedupKey(dedupKey, DedupMode.PUSH_BACK));
    }

    private void again(Call call) {
        try {
            rowlock.enqueue(call, of(call.priority()));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private List<Enqueued> enqueue(int jobs, Priority priority) throws Exception {
        return rowlock.enqueueAll(
                IntStream.range(0, jobs).mapToObj(n -> new Call(priority)).toList(), of(priority));
    }

    private static Consumer<JobOptions> of(Priority priority) {
        return options -> options.limitKey("a").priority(priority);
    }

    private long parked() throws Exception {
        return rowlock.count(JobState.PARKED);
    }
}
