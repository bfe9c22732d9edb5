package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Limits that change, are locked, or are exceeded for a while. */
@PostgresTest
final class LimitTroubleIT {
    private static final By OPERATOR = new By("op", "test");
    private static final Duration DAY = Duration.ofDays(1);
    private static final String HELD = "SELECT coalesce(sum(held), 0) FROM rowlock_slot WHERE held_until > now()";
    private static final String USED = "SELECT coalesce(sum(window_used), 0) FROM rowlock_limit";

    @Kind("call")
    private record Call(int no) {}

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
    void a_rate_that_is_raised_holds_at_once() throws Exception {
        limit(QueueLimits.none().rate(1, DAY));
        enqueue(5, options -> {});
        try (Worker worker = quick(4)) {
            soon().until(() -> gauge.ended("call") == 1 && schema.count(USED) == 1);
            limit(QueueLimits.none().rate(100, DAY));
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void tokens_that_a_stopped_worker_has_not_used_are_given_back() throws Exception {
        limit(QueueLimits.none().rate(5_000, DAY));
        enqueue(7, options -> {});
        try (Worker worker = quick(2)) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(schema.count(USED)).isEqualTo(7);
    }

    @Test
    void workers_that_hold_more_than_the_limit_together_give_way_until_they_keep_to_it() throws Exception {
        limit(QueueLimits.none().running(6));
        try (Worker one = endless(3);
                Worker two = endless(3)) {
            rowlock.enqueueAll(IntStream.range(0, 12).mapToObj(Call::new).toList());
            soon().until(() -> schema.count(HELD) == 6);

            limit(QueueLimits.none().running(1));
            soon().until(() -> schema.count(HELD) == 1);
            assertThat(one.health().up() && two.health().up()).isTrue();
            limit(QueueLimits.none());
            schema.execute("DELETE FROM rowlock_job WHERE locked_by IS NULL");
        }
    }

    @Test
    void a_job_whose_row_is_locked_uses_up_nothing_of_its_limit() throws Exception {
        limit(QueueLimits.none().ratePerKey(3, DAY).runningPerKey(2));
        long job =
                rowlock.enqueue(new Call(1), options -> options.limitKey("a")).id();
        try (Connection other = schema.begin()) {
            other.createStatement().execute("SELECT 1 FROM rowlock_job WHERE id = " + job + " FOR UPDATE");
            try (Worker worker = quick(4)) {
                rowlock.enqueue(new Call(2), options -> options.limitKey("b"));
                soon().until(() -> gauge.ended("call") == 1);
                rowlock.enqueue(new Call(3), options -> options.limitKey("b"));
                soon().until(() -> gauge.ended("call") == 2);
                assertThat(schema.count(USED + " WHERE limit_key = 'a'")).isZero();

                other.rollback();
                rowlock.awaitAllEnded();
                assertThat(schema.count(USED + " WHERE limit_key = 'a'")).isEqualTo(1);
                assertThat(worker.health().up()).isTrue();
            }
        }
    }

    @Test
    void jobs_that_run_when_a_first_limit_is_set_count() throws Exception {
        enqueue(3, options -> options.limitKey("a"));
        try (Worker worker = held(8)) {
            soon().until(() -> gauge.running("call") == 3);
            limit(QueueLimits.none().runningPerKey(2));
            enqueue(2, options -> options.limitKey("a"));

            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE limited") == 2);
            assertThat(gauge.most("call")).isEqualTo(3);
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_stop_leaves_no_slots_behind_although_the_limits_are_locked() throws Exception {
        limit(QueueLimits.none().running(4).runningPerKey(2));
        enqueue(2, options -> options.limitKey("a"));
        Worker worker = held(4);
        soon().until(() -> gauge.running("call") == 2);
        try (Connection other = schema.begin()) {
            other.createStatement().execute("SELECT 1 FROM rowlock_limit FOR UPDATE");
            gate.countDown();
            worker.stop(Duration.ofSeconds(10));
            other.rollback();
        }
        assertThat(schema.count(HELD)).isZero();
    }

    @Test
    void a_worker_by_hand_holds_nothing_after_it_has_drained() throws Exception {
        limit(QueueLimits.none().running(3).rate(100, DAY).runningPerKey(1));
        enqueue(3, options -> options.limitKey("a"));
        enqueue(2, options -> {});
        try (var worker = rowlock.rowlock()
                .handCrankedWorker(
                        config -> config.handle(Call.class, (call, job) -> gauge.during("call", () -> {})))) {
            assertThat(worker.drain()).isEqualTo(5);
            assertThat(schema.count(HELD)).isZero();
            assertThat(schema.count(USED)).isEqualTo(5);
        }
    }

    @Test
    @Tag("P2")
    void one_sweep_makes_ready_what_is_left_of_a_short_window_and_the_next_one_however_few_the_handlers()
            throws Exception {
        limit(QueueLimits.none().ratePerKey(5, Duration.ofSeconds(2)));
        rowlock.rowlock().queues().pause("default", OPERATOR); // so that nobody claims
        enqueue(20, options -> options.limitKey("a"));
        schema.execute("UPDATE rowlock_job SET state = 'parked', limited = true;"
                + " INSERT INTO rowlock_limit (queue, limit_key, parked, window_at, window_used)"
                + " VALUES ('default', 'a', true, date_bin('2 s', clock_timestamp(), 'epoch'), 2)");
        String window = "SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND run_at";

        try (Worker worker = rowlock.start(
                config -> config.poll(Duration.ofHours(1)).queue("default", 1).handle(Call.class, (call, job) -> {}))) {
            soon().until(() -> rowlock.count(JobState.READY) > 0);
            assertThat(schema.count(window + " = date_bin('2 s', run_at, 'epoch')"))
                    .as("due at the beginning of a window")
                    .isEqualTo(5);
            assertThat(schema.count(window + " <> date_bin('2 s', run_at, 'epoch')"))
                    .as("due at once; two were used already, unless that window has ended since")
                    .isIn(3L, 5L);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void rows_of_workers_that_are_gone_for_an_hour_are_deleted_though_their_limit_is_in_use() throws Exception {
        limit(QueueLimits.none().runningPerKey(2));
        enqueue(1, options -> options.limitKey("a"));
        try (Worker worker = held(4)) {
            soon().until(() -> gauge.running("call") == 1);
            schema.execute("INSERT INTO rowlock_slot (queue, limit_key, owner, held, held_until)"
                    + " SELECT 'default', 'a', 'gone-' || n, 1, clock_timestamp() - interval '61 minutes'"
                    + " FROM generate_series(1, 50) n"
                    + " UNION ALL SELECT 'default', 'a', 'lately', 1, clock_timestamp() - interval '59 minutes'");

            rowlock.awaitZero("SELECT count(*) FROM rowlock_slot WHERE owner LIKE 'gone-%'");
            assertThat(schema.count("SELECT count(*) FROM rowlock_slot")).isEqualTo(2);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_slot_whose_time_is_over_is_taken_anew_by_the_next_claim() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        List<Long> held = new ArrayList<>();
        try (var worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Call.class, (call, job) -> held.add(schema.count(HELD))))) {
            for (int no = 0; no < 10; no++) {
                enqueue(1, options -> options.limitKey("a"));
                assertThat(worker.runNext()).isTrue();
                schema.execute("UPDATE rowlock_slot SET held_until = clock_timestamp() - interval '1 s'");
            }
        }
        assertThat(held).hasSize(10).containsOnly(1L);
    }

    @Test
    void a_paused_queue_uses_up_nothing() throws Exception {
        limit(QueueLimits.none().rate(5, DAY).running(3));
        rowlock.rowlock().queues().pause("default", OPERATOR);
        enqueue(5, options -> {});
        try (Worker worker = rowlock.work(config -> config.queue("default", 4)
                .queue("other", 1)
                .handle(Call.class, (call, job) -> gauge.during("call", () -> {})))) {
            for (int no = 1; no <= 3; no++) {
                int done = no;
                rowlock.enqueue(new Call(no), options -> options.queue("other"));
                soon().until(() -> gauge.ended("call") == done);
            }
            assertThat(schema.count(USED)).isZero();
            assertThat(schema.count(HELD)).isZero();
            assertThat(worker.health().up()).isTrue();
        }
    }

    private void limit(QueueLimits limits) {
        rowlock.rowlock().queues().limit("default", limits, OPERATOR);
    }

    private void enqueue(int jobs, Consumer<JobOptions> options) throws Exception {
        rowlock.enqueueAll(IntStream.range(0, jobs).mapToObj(Call::new).toList(), options);
    }

    private Worker quick(int concurrency) {
        return rowlock.work(config ->
                config.queue("default", concurrency).handle(Call.class, (call, job) -> gauge.during("call", () -> {})));
    }

    private Worker held(int concurrency) {
        return rowlock.work(config -> config.queue("default", concurrency).handle(Call.class, this::hold));
    }

    private void hold(Call call, JobContext job) throws Exception {
        gauge.during("call", () -> assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue());
    }

    /** Each job writes another. */
    private Worker endless(int concurrency) {
        return rowlock.work(config -> config.queue("default", concurrency)
                .handle(Call.class, (call, job) -> rowlock.enqueueAll(List.of(new Call(call.no())))));
    }
}
