package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobOptions;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Limits of a queue hold over all workers together. */
@PostgresTest
final class QueueLimitIT {
    private static final By OPERATOR = new By("op", "test");
    private static final String HELD = "SELECT coalesce(sum(held), 0) FROM rowlock_slot WHERE held_until > now()";

    @Kind("call")
    private record Call(int no) {}

    @Kind("other")
    private record Other(int no) {}

    private final Gauge gauge = new Gauge();
    private final CountDownLatch gate = new CountDownLatch(1);
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
    void no_more_jobs_of_a_queue_run_at_once_over_three_workers_than_its_limit() throws Exception {
        limit(QueueLimits.none().running(3));
        enqueue(120, options -> {});
        enqueue(30, options -> options.orderingKey("a"));

        try (Worker one = calls();
                Worker two = calls();
                Worker three = calls()) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero(HELD);
            assertThat(one.health().up() && two.health().up() && three.health().up())
                    .isTrue();
        }
        assertThat(gauge.ended("call")).isEqualTo(150);
        assertThat(gauge.most("call")).isLessThanOrEqualTo(3);
    }

    @Test
    void a_worker_takes_no_more_slots_than_it_has_jobs_and_gives_them_back_when_it_is_idle() throws Exception {
        limit(QueueLimits.none().running(10));
        enqueue(2, options -> {});
        try (Worker one = calls()) {
            assertThat(one.health().up()).isTrue();
            rowlock.awaitAllEnded();
            rowlock.awaitZero(HELD);
            assertThat(schema.list(Integer.class, "SELECT held FROM rowlock_slot"))
                    .containsExactly(0);
            CountDownLatch blocked = new CountDownLatch(1);
            try (Worker two = rowlock.work(config -> config.handle(Other.class, (call, job) -> await(blocked)))) {
                rowlock.enqueueAll(List.of(new Other(1), new Other(2), new Other(3)));
                soon().until(() -> schema.count(HELD) == 3);
                soon().until(() -> two.health().running() == 3);
                blocked.countDown();
                rowlock.awaitAllEnded();
            }
        }
    }

    @Test
    @Tag("P2")
    void two_workers_for_different_kinds_take_turns_with_one_slot() throws Exception {
        limit(QueueLimits.none().running(1));
        try (Worker calls = rowlock.work(config -> config.handle(Call.class, (call, job) -> {
                    rowlock.enqueue(new Call(call.no() + 1)); // never without a job
                    gauge.during("call", () -> {});
                }));
                Worker others = rowlock.work(
                        config -> config.handle(Other.class, (call, job) -> gauge.during("other", () -> {})))) {
            rowlock.enqueueAll(List.of(new Call(0), new Call(0), new Call(0)));
            soon().until(() -> gauge.ended("call") > 5);
            rowlock.enqueue(new Other(0));

            soon().until(() -> gauge.ended("other") == 1);
            int before = gauge.ended("call");
            soon().until(() -> gauge.ended("call") > before);
            assertThat(calls.health().up() && others.health().up()).isTrue();
        }
    }

    @Test
    void a_limit_set_while_workers_run_holds_soon_and_goes_away_again() throws Exception {
        try (Worker worker = rowlock.work(config -> config.queue("default", 8).handle(Call.class, this::held))) {
            enqueue(4, options -> {});
            soon().until(() -> gauge.running("call") == 4);

            limit(QueueLimits.none().running(2));
            enqueue(20, options -> {});
            soon().until(() -> schema.count(HELD) == 2);
            assertThat(gauge.most("call")).isLessThanOrEqualTo(8);
            int running = gauge.running("call");

            limit(QueueLimits.none());
            soon().until(() -> gauge.running("call") == 8);
            assertThat(running).isLessThan(8);
            gate.countDown();
            rowlock.awaitAllEnded();
            rowlock.awaitZero(HELD);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_rate_of_a_queue_holds_over_two_workers_for_jobs_with_and_without_keys() throws Exception {
        limit(QueueLimits.none().rate(6, Duration.ofSeconds(2)));
        try (Windows windows = new Windows(schema)) {
            enqueue(4, options -> {});
            enqueue(18, options -> options.orderingKey("a"));
            enqueue(4, options -> options.limitKey("a"));
            try (Worker one = calls();
                    Worker two = calls()) {
                rowlock.awaitAllEnded();
                assertThat(one.health().up() && two.health().up()).isTrue();
            }

            assertThat(windows.used("")).allSatisfy(used -> assertThat(used).isLessThanOrEqualTo(6));
            assertThat(windows.used("").stream().mapToInt(Integer::intValue).sum())
                    .as("each claim took a token")
                    .isGreaterThanOrEqualTo(26);
        }
    }

    @Test
    void limits_are_read_back_as_they_were_set() {
        QueueLimits all = QueueLimits.none()
                .running(10)
                .rate(100, Duration.ofMinutes(1))
                .runningPerKey(2)
                .ratePerKey(5, Duration.ofMillis(1_500));

        limit(all);

        assertThat(rowlock.rowlock().queues().limitsOf("default")).isEqualTo(all);
        assertThat(rowlock.rowlock().queues().limitsOf("another")).isEqualTo(QueueLimits.none());
        rowlock.rowlock().queues().pause("default", OPERATOR);
        assertThat(rowlock.rowlock().queues().limitsOf("default")).isEqualTo(all);
        limit(QueueLimits.none());
        assertThat(rowlock.rowlock().queues().limitsOf("default")).isEqualTo(QueueLimits.none());
        assertThat(rowlock.rowlock().queues().pauseOf("default")).isPresent();
    }

    @Test
    @Tag("P15")
    void numbers_that_cannot_be_are_refused_before_any_sql() {
        assertThatThrownBy(() -> QueueLimits.none().running(0))
                .isInstanceOf(InvalidUseException.class)
                .hasMessage("running must be between 1 and 1000000, got 0; to let no job run, pause the queue");
        assertThatThrownBy(() -> QueueLimits.none().runningPerKey(1_000_001))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("runningPerKey must be between 1 and 1000000");
        assertThatThrownBy(() -> QueueLimits.none().rate(0, Duration.ofSeconds(1)))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("The jobs of a rate must be between");
        for (Duration per : List.of(Duration.ofMillis(999), Duration.ofDays(366), Duration.ofNanos(1_000_000_001))) {
            assertThatThrownBy(() -> QueueLimits.none().ratePerKey(1, per))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("The window of a rate must be between 1 second and 365 days");
        }
        assertThatThrownBy(() -> rowlock.rowlock().queues().limit("q", null, OPERATOR))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("QueueLimits.none()");
        assertThatThrownBy(() -> rowlock.rowlock().queues().limit("q", QueueLimits.none(), null))
                .isInstanceOf(InvalidUseException.class);
    }

    private void limit(QueueLimits limits) {
        rowlock.rowlock().queues().limit("default", limits, OPERATOR);
    }

    private void enqueue(int jobs, Consumer<JobOptions> options) throws Exception {
        rowlock.enqueueAll(IntStream.range(0, jobs).mapToObj(Call::new).toList(), options);
    }

    private Worker calls() {
        return rowlock.work(config ->
                config.queue("default", 8).handle(Call.class, (call, job) -> gauge.during("call", this::ask)));
    }

    private void ask() throws Exception {
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isPositive();
    }

    private void held(Call call, JobContext job) throws Exception {
        gauge.during("call", () -> await(gate));
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    }
}
