package io.rowlock.key;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs of one key run one at a time, in the order written; a key that waits holds back its own jobs only. */
@PostgresTest
@Tag("P11")
final class OrderIT {
    @Kind("step")
    private record Step(String key, int no) {}

    @Kind("other")
    private record Other(String key, int no) {}

    private static final RetryPolicy AT_ONCE = RetryPolicy.fixed(Duration.ofMillis(20));

    private final Log log = new Log();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    @Tag("B46")
    void jobs_of_one_transaction_run_in_the_order_of_its_enqueues_one_at_a_time() throws Exception {
        enqueue("a", 50);

        try (Worker worker = steps()) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(50));
    }

    @Test
    void many_keys_go_on_side_by_side_in_three_workers_each_in_its_order() throws Exception {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 30; no++) {
            for (int key = 0; key < 40; key++) {
                String name = "key-" + key;
                requests.add(JobRequest.of(new Step(name, no), options -> options.orderingKey(name)));
            }
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, requests));

        try (Worker a = steps();
                Worker b = steps();
                Worker c = steps()) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(a.health().up() && b.health().up() && c.health().up()).isTrue();
        }

        for (int key = 0; key < 40; key++) {
            assertThat(log.of("key-" + key)).isEqualTo(upTo(30));
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE attempts <> 1"))
                .isZero();
    }

    @Test
    @Tag("B46")
    @Tag("P2")
    void a_job_that_commits_late_with_a_lower_id_waits_for_the_running_one_and_then_comes_first() throws Exception {
        CountDownLatch gate = gate("a", 1);
        try (Connection late = schema.begin();
                Worker a = steps();
                Worker b = steps()) {
            rowlock.rowlock().outbox().enqueue(late, new Step("a", 0), options -> options.orderingKey("a"));
            enqueueOne("a", 1);
            soon().until(() -> log.isRunning("a", 1));
            enqueueOne("a", 2);
            late.commit();
            soon().until(() -> rowlock.count(JobState.PARKED) == 2);
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(a.health().up() && b.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(1, 0, 2);
    }

    @Test
    @Tag("B46")
    @Tag("B59")
    void a_failing_head_holds_back_its_own_key_only() throws Exception {
        enqueue("a", 6);
        AtomicInteger failures = new AtomicInteger();

        try (Worker worker = rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    if (step.key().equals("a") && step.no() == 3 && failures.incrementAndGet() <= 3) {
                        soon().until(() -> log.of("b").size() >= failures.get());
                        throw new IllegalStateException("not yet");
                    }
                }),
                options -> options.retry(AT_ONCE)))) {
            for (int no = 0; no < 3; no++) {
                int last = no;
                enqueueOne("b", no);
                soon().until(() -> log.of("b").size() == last + 1);
            }
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(6));
        assertThat(log.of("b")).isEqualTo(upTo(3));
        assertThat(failures).hasValue(4);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE attempts <> 1"))
                .as("the others of the key have used one attempt each")
                .isEqualTo(1);
    }

    @Test
    @Tag("P12")
    void a_head_of_a_foreign_kind_holds_back_its_key_and_costs_the_others_nothing() throws Exception {
        rowlock.enqueue(new Other("a", 0), options -> options.orderingKey("a"));
        enqueue("a", 3);
        enqueue("b", 3);

        try (Worker worker = steps()) {
            soon().until(() -> log.of("b").size() == 3);
            soon().until(() -> rowlock.count(JobState.PARKED) == 3);
            try (Worker other = rowlock.work(config ->
                    config.handle(Other.class, (step, job) -> log.during(step.key(), 100 + step.no(), () -> {})))) {
                rowlock.awaitAllEnded();
                assertThat(worker.health().up() && other.health().up()).isTrue();
            }
        }

        assertThat(log.of("a")).containsExactly(100, 0, 1, 2);
    }

    @Test
    void a_head_due_later_holds_back_what_was_written_after_it() throws Exception {
        long head = rowlock.enqueue(
                        new Step("a", 0), options -> options.orderingKey("a").after(Duration.ofHours(1)))
                .id();
        enqueueOne("a", 1);

        try (Worker worker = steps()) {
            soon().until(() -> rowlock.count(JobState.PARKED) == 1);
            schema.update("UPDATE rowlock_job SET run_at = clock_timestamp() WHERE id = " + head);
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    void a_snoozing_head_holds_back_its_key_and_uses_no_attempt() throws Exception {
        enqueue("a", 4);
        AtomicInteger snoozes = new AtomicInteger();

        try (Worker worker = rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    if (step.no() == 1 && snoozes.incrementAndGet() <= 3) {
                        throw new Snooze(Duration.ofMillis(20));
                    }
                })))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(4));
        assertThat(schema.count("SELECT max(attempts)::bigint FROM rowlock_job"))
                .isEqualTo(1);
    }

    @Test
    @Tag("P4")
    void transactional_handlers_of_a_key_run_in_order_and_commit_with_their_completion() throws Exception {
        schema.execute("CREATE TABLE IF NOT EXISTS effect (no int, at timestamptz DEFAULT clock_timestamp())");
        enqueue("a", 20);

        try (Worker worker = rowlock.work(config -> config.handleTransactionally(
                Step.class,
                (step, job, connection) -> log.during(step.key(), step.no(), () -> {
                    try (var insert = connection.prepareStatement("INSERT INTO effect (no) VALUES (?)")) {
                        insert.setInt(1, step.no());
                        insert.executeUpdate();
                    }
                })))) {
            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(20));
        assertThat(schema.list(Integer.class, "SELECT no FROM effect ORDER BY at"))
                .isEqualTo(upTo(20));
    }

    @Test
    void a_leased_handler_may_complete_jobs_of_a_key_in_transactions_of_its_own() throws Exception {
        enqueue("a", 20);

        try (Worker worker = rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    if (step.no() % 2 == 0) {
                        try (Connection own = schema.begin()) {
                            job.completeIn(own);
                            own.commit();
                        }
                    }
                })))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(20));
        assertThat(schema.count("SELECT max(attempts)::bigint FROM rowlock_job"))
                .isEqualTo(1);
    }

    @Test
    @Tag("B43")
    void what_a_stopping_worker_hands_back_goes_on_in_order_elsewhere_without_having_used_an_attempt()
            throws Exception {
        CountDownLatch gate = gate("a", 2);
        enqueue("a", 10);
        Worker first = steps();
        soon().until(() -> log.isRunning("a", 2));
        first.stop(Duration.ZERO);

        try (Worker second = steps()) {
            soon().until(() -> log.isRunning("a", 2));
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(second.health().up()).isTrue();
        }

        assertThat(log.of("a")).isEqualTo(upTo(10));
        assertThat(schema.count("SELECT max(attempts)::bigint FROM rowlock_job"))
                .isEqualTo(1);
    }

    @Test
    void a_worker_cranked_by_hand_takes_one_job_of_a_key_after_the_other() throws Exception {
        enqueue("a", 5);
        enqueue("b", 5);

        try (var worker = rowlock.rowlock()
                .handCrankedWorker(config ->
                        config.handle(Step.class, (step, job) -> log.during(step.key(), step.no(), () -> {})))) {
            assertThat(worker.runNext()).isTrue();
            assertThat(log.of("a").size() + log.of("b").size()).isEqualTo(1);
            assertThat(worker.drain()).isEqualTo(9);
        }

        assertThat(log.of("a")).isEqualTo(upTo(5));
        assertThat(log.of("b")).isEqualTo(upTo(5));
    }

    private void enqueue(String key, int n) throws Exception {
        rowlock.enqueueAll(
                IntStream.range(0, n).mapToObj(no -> new Step(key, no)).toList(), options -> options.orderingKey(key));
    }

    private void enqueueOne(String key, int no) throws Exception {
        rowlock.enqueue(new Step(key, no), options -> options.orderingKey(key));
    }

    private CountDownLatch gate(String key, int no) {
        return gates.computeIfAbsent(key + no, absent -> new CountDownLatch(1));
    }

    /** A worker that does steps, each waiting for its gate if it has one. */
    private Worker steps() {
        return rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    CountDownLatch gate = gates.get(step.key() + step.no());
                    if (gate != null) {
                        gate.await();
                    }
                })));
    }

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }
}
