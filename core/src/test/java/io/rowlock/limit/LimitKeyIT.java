package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobContext;
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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs with one limit key share a limit over all workers; a full key holds back its own jobs only. */
@PostgresTest
final class LimitKeyIT {
    private static final By OPERATOR = new By("op", "test");
    private static final String IN_USE = "SELECT coalesce(sum(held), 0) FROM rowlock_slot WHERE held_until > now()";

    private static final int KEY = 100;

    @Kind("call")
    private record Call(String tenant, int no) {}

    @Kind("other")
    private record Other(String tenant) {}

    private final Gauge gauge = new Gauge();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @AfterEach
    void open() {
        gates.values().forEach(CountDownLatch::countDown);
    }

    @Test
    void no_more_jobs_of_a_key_than_its_limit_run_at_once_over_three_workers_and_all_get_done() throws Exception {
        limit(QueueLimits.none().runningPerKey(2));
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 60; no++) {
            for (String tenant : List.of("a", "b", "c")) {
                int number = no;
                requests.add(JobRequest.of(new Call(tenant, number), options -> options.limitKey(tenant)));
            }
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, requests));

        try (Worker one = worker();
                Worker two = worker();
                Worker three = worker()) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero(IN_USE);
            assertThat(one.health().up() && two.health().up() && three.health().up())
                    .isTrue();
        }

        for (String tenant : List.of("a", "b", "c")) {
            assertThat(gauge.most(tenant)).isLessThanOrEqualTo(2);
            assertThat(gauge.ended(tenant)).isEqualTo(60);
        }
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(180);
    }

    @Test
    void a_full_key_is_parked_and_does_not_hold_back_others_that_were_written_later() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        gates.put("slow", new CountDownLatch(1));
        enqueue("slow", 40);
        enqueue("quick", 5);
        rowlock.enqueue(new Call("none", 0));

        try (Worker worker = worker()) {
            soon().until(() -> gauge.ended("quick") == 5 && gauge.ended("none") == 1);
            soon().until(() -> count("state = 'parked' AND limited AND limit_key = 'slow'") == 39);
            assertThat(gauge.running("slow")).isEqualTo(1);

            gates.get("slow").countDown();
            rowlock.awaitAllEnded();
            assertThat(gauge.ended("slow")).isEqualTo(40);
            assertThat(gauge.most("slow")).isEqualTo(1);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void slots_of_a_worker_that_is_gone_are_free_when_its_time_is_over_and_parked_jobs_go_on() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        schema.execute("INSERT INTO rowlock_limit (queue, limit_key, parked) VALUES ('default', 'a', true);"
                + " INSERT INTO rowlock_slot (queue, limit_key, owner, held, held_until)"
                + " VALUES ('default', 'a', 'gone', 1, clock_timestamp() + interval '1 hour')");
        enqueue("a", 3);

        try (Worker worker = worker()) {
            soon().until(() -> count("state = 'parked' AND limited") == 3);
            assertThat(gauge.ended("a")).isZero();

            schema.execute("UPDATE rowlock_slot SET held_until = clock_timestamp() WHERE owner = 'gone'");
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(gauge.ended("a")).isEqualTo(3);
    }

    @Test
    @Tag("P8")
    void slots_of_a_job_that_takes_longer_than_its_lease_are_kept_up() throws Exception {
        limit(QueueLimits.none().runningPerKey(1).running(3));
        gates.put("a", new CountDownLatch(1));
        enqueue("a", 2);

        try (Worker one = rowlock.work(
                        config -> config.lease(Duration.ofSeconds(1)).handle(Call.class, this::call));
                Worker two = rowlock.work(
                        config -> config.lease(Duration.ofSeconds(1)).handle(Call.class, this::call))) {
            soon().until(() -> gauge.running("a") == 1);
            String begun =
                    schema.list(String.class, "SELECT clock_timestamp()::text").get(0);
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_slot WHERE held = 1"
                            + " AND held_until > timestamptz '" + begun + "' + interval '6 seconds'")
                    == 2);
            assertThat(gauge.most("a")).isEqualTo(1);
            gates.get("a").countDown();
            rowlock.awaitAllEnded();
            assertThat(one.health().up() && two.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P11")
    void a_job_with_both_keys_keeps_its_order_and_its_limit() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        List<Integer> order = new ArrayList<>();
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 20; no++) {
            for (int key = 0; key < 3; key++) {
                Call call = new Call("a", key * KEY + no);
                String name = "key-" + key;
                requests.add(
                        JobRequest.of(call, options -> options.limitKey("a").orderingKey(name)));
            }
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, requests));

        try (Worker one = worker(order);
                Worker two = worker(order)) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(one.health().up() && two.health().up()).isTrue();
        }

        assertThat(gauge.most("a")).isEqualTo(1);
        for (int key = 0; key < 3; key++) {
            int first = key * KEY;
            assertThat(order)
                    .filteredOn(no -> no / KEY * KEY == first)
                    .containsExactlyElementsOf(
                            IntStream.range(first, first + 20).boxed().toList());
        }
    }

    @Test
    @Tag("P12")
    void a_key_full_of_jobs_of_a_foreign_kind_lets_the_workers_own_pass() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        for (int i = 0; i < 50; i++) {
            rowlock.enqueue(new Other("a"), options -> options.limitKey("a"));
        }
        schema.execute("UPDATE rowlock_job SET state = 'parked', limited = true;"
                + " INSERT INTO rowlock_limit (queue, limit_key, parked) VALUES ('default', 'a', true)");
        enqueue("a", 5);

        try (Worker worker = worker()) {
            soon().until(() -> gauge.ended("a") == 5);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(count("state = 'parked' AND kind = 'other'")).isEqualTo(50);
    }

    @Test
    void a_rate_holds_for_each_window_and_the_rest_comes_in_the_next() throws Exception {
        limit(QueueLimits.none().ratePerKey(5, Duration.ofSeconds(2)));
        enqueue("a", 20);
        enqueue("b", 3);

        try (Windows windows = new Windows(schema);
                Worker one = worker();
                Worker two = worker()) {
            rowlock.awaitAllEnded();
            assertThat(one.health().up() && two.health().up()).isTrue();

            assertThat(windows.used("a")).allSatisfy(used -> assertThat(used).isLessThanOrEqualTo(5));
            assertThat(windows.used("a").stream().mapToInt(Integer::intValue).sum())
                    .as("each claim took a token")
                    .isEqualTo(20);
            assertThat(windows.used("b").stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(3);
        }
    }

    @Test
    void a_limit_that_is_taken_away_lets_all_parked_jobs_run() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        gates.put("a", new CountDownLatch(1));
        enqueue("a", 40);

        try (Worker worker = worker()) {
            soon().until(() -> count("state = 'parked' AND limited") == 39);
            limit(QueueLimits.none());
            soon().until(() -> gauge.running("a") > 1);
            gates.get("a").countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void what_throws_and_what_is_cancelled_frees_its_slot_too() throws Exception {
        limit(QueueLimits.none().runningPerKey(1));
        long thrown = rowlock.enqueue(
                        new Call("throws", 0), options -> options.limitKey("a").maxAttempts(2))
                .id();
        gates.put("stays", new CountDownLatch(1));
        long cancelled = rowlock.enqueue(new Call("stays", 0), options -> options.limitKey("b"))
                .id();
        enqueue("a", 1);
        enqueue("b", 1);

        try (Worker worker = worker()) {
            soon().until(() -> gauge.running("stays") == 1);
            rowlock.rowlock().jobs().cancel(cancelled, OPERATOR);
            rowlock.awaitState(thrown, JobState.DEAD);
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(gauge.ended("a")).isEqualTo(1);
        assertThat(gauge.ended("b")).isEqualTo(1);
        rowlock.awaitZero(IN_USE);
    }

    @Test
    void a_stop_gives_the_slots_back_at_once() throws Exception {
        limit(QueueLimits.none().runningPerKey(3).running(5));
        gates.put("a", new CountDownLatch(1));
        enqueue("a", 10);

        Worker worker = worker();
        soon().until(() -> gauge.running("a") == 3);
        worker.stop(Duration.ofMillis(10));
        worker.close();

        assertThat(schema.count(IN_USE)).isZero();
        gates.get("a").countDown();
        try (Worker next = worker()) {
            rowlock.awaitAllEnded();
            assertThat(next.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void limits_that_nobody_has_used_for_an_hour_are_dropped() throws Exception {
        limit(QueueLimits.none().runningPerKey(2).ratePerKey(100, Duration.ofSeconds(1)));
        enqueue("a", 3);
        try (Worker worker = worker()) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero(IN_USE);
            assertThat(schema.count("SELECT count(*) FROM rowlock_limit")).isEqualTo(1);

            schema.execute("UPDATE rowlock_slot SET held_until = held_until - interval '2 hours';"
                    + " UPDATE rowlock_limit SET window_at = window_at - interval '2 hours'");
            rowlock.awaitZero("SELECT (SELECT count(*) FROM rowlock_limit) + (SELECT count(*) FROM rowlock_slot)");
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_worker_by_hand_keeps_to_limits_too() throws Exception {
        limit(QueueLimits.none().running(1).rate(100, Duration.ofMinutes(1)).runningPerKey(1));
        enqueue("a", 5);
        try (var worker = rowlock.rowlock().handCrankedWorker(config -> config.handle(Call.class, this::call))) {
            assertThat(worker.drain()).isEqualTo(5);
        }
        assertThat(gauge.ended("a")).isEqualTo(5);
    }

    private void limit(QueueLimits limits) {
        rowlock.rowlock().queues().limit("default", limits, OPERATOR);
    }

    private void enqueue(String tenant, int jobs) throws Exception {
        List<Call> calls = new ArrayList<>();
        for (int no = 0; no < jobs; no++) {
            calls.add(new Call(tenant, no));
        }
        rowlock.enqueueAll(calls, options -> options.limitKey(tenant));
    }

    private long count(String condition) throws Exception {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE " + condition);
    }

    private Worker worker() throws Exception {
        return worker(new ArrayList<>());
    }

    private Worker worker(List<Integer> order) throws Exception {
        return rowlock.work(config -> config.queue("default", 8)
                .handle(
                        Call.class,
                        (call, job) -> {
                            synchronized (order) {
                                order.add(call.no());
                            }
                            call(call, job);
                        },
                        handler -> handler.retry(RetryPolicy.fixed(Duration.ofMillis(20)))));
    }

    private void call(Call call, JobContext job) throws Exception {
        gauge.during(call.tenant(), () -> {
            if (call.tenant().equals("throws")) {
                throw new IllegalStateException("on purpose");
            }
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isPositive();
            CountDownLatch gate = gates.get(call.tenant());
            if (gate != null) {
                assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue();
            }
        });
    }
}
