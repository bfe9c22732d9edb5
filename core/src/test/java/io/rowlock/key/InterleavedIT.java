package io.rowlock.key;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The head of a key ends while somebody else is at work on its followers, or on itself; forced by locks. */
@PostgresTest
@Tag("P11")
@Tag("P2")
final class InterleavedIT {
    @Kind("step")
    private record Step(String key, int no) {}

    private static final By ADA = new By("ada", "looked at it");

    private final Log log = new Log();
    private final Set<String> deadly = ConcurrentHashMap.newKeySet();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void a_head_that_ends_while_its_followers_are_being_parked_is_recorded_after_that_and_promotes_the_next()
            throws Exception {
        CountDownLatch gate = gate("a0");
        enqueue("a", 1);
        try (Worker worker = steps();
                Connection parking = schema.begin();
                Statement sql = parking.createStatement()) {
            soon().until(() -> log.isRunning("a", 0));
            rowlock.rowlock().queues().pause("default", ADA); // so that only this transaction parks
            List<Long> followers = enqueue("a", 1, 3);
            sql.execute("SELECT FROM rowlock_key FOR UPDATE");
            sql.execute("UPDATE rowlock_job SET state = 'parked' WHERE id >= " + followers.get(0));
            gate.countDown();
            soon().until(() -> worker.health().unrecorded() == 1);
            parking.commit();
            soon().until(() -> rowlock.state(followers.get(0)) == JobState.READY);
            assertThat(rowlock.state(followers.get(1))).isEqualTo(JobState.PARKED);
            rowlock.rowlock().queues().resume("default", ADA);
            rowlock.awaitAllEnded();
        }

        assertThat(log.of("a")).containsExactly(0, 1, 2);
    }

    @Test
    void a_head_that_is_revived_while_the_one_behind_it_ends_comes_next() throws Exception {
        rowlock.rowlock().queues().deadHead("default", DeadHead.PASS, new By("ada", "followers need not wait"));
        deadly.add("a0");
        CountDownLatch gate = gate("a1");
        List<Long> ids = enqueue("a", 3);
        try (Worker worker = steps();
                Connection person = schema.begin()) {
            soon().until(() -> log.isRunning("a", 1));
            assertThat(rowlock.state(ids.get(0))).isEqualTo(JobState.DEAD);
            deadly.clear();
            assertThat(jobs.in(person).revive(ids.get(0), ADA)).isEqualTo(JobAnswer.DONE);
            gate.countDown();
            soon().until(() -> worker.health().unrecorded() >= 1);
            person.commit();
            rowlock.awaitAllEnded();
        }

        assertThat(log.of("a")).containsSubsequence(1, 0).contains(2).hasSize(3);
    }

    @Test
    void a_running_head_whose_row_a_caller_has_locked_ends_once_it_is_free_and_the_other_keys_go_on() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 3);
        try (Worker worker = steps();
                Connection caller = schema.begin();
                Statement sql = caller.createStatement()) {
            soon().until(() -> log.isRunning("a", 0));
            sql.execute("SELECT FROM rowlock_job WHERE id = " + ids.get(0) + " FOR UPDATE");
            gate.countDown();
            enqueue("b", 3);
            soon().until(() -> log.of("b").size() == 3);
            soon().until(() -> worker.health().unrecorded() >= 1);
            assertThat(rowlock.state(ids.get(0))).isEqualTo(JobState.READY);
            caller.rollback();
            rowlock.awaitAllEnded();
        }

        assertThat(log.of("a")).containsExactly(0, 1, 2);
    }

    @Test
    void a_dead_head_that_blocks_is_passed_over_by_pruning_whatever_its_age() throws Exception {
        deadly.add("a1");
        List<Long> ids = enqueue("a", 3);
        try (Worker worker = steps()) {
            rowlock.awaitState(ids.get(1), JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.state(ids.get(0))).isEqualTo(JobState.COMPLETED);
        schema.update("UPDATE rowlock_job SET finished_at = finished_at - interval '1000 days'"
                + " WHERE finished_at IS NOT NULL");

        try (Worker worker = steps()) {
            soon().until(() -> jobs.find(ids.get(0)).isEmpty());
            soon().until(() -> worker.health().up());
        }

        assertThat(rowlock.state(ids.get(1))).isEqualTo(JobState.DEAD);
        assertThat(schema.list(Long.class, "SELECT blocked_by FROM rowlock_key"))
                .containsExactly(ids.get(1));
        assertThat(log.of("a")).containsExactly(0);
        deadly.clear();
        assertThat(jobs.revive(ids.get(1), ADA)).isEqualTo(JobAnswer.DONE);
        try (Worker worker = steps()) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1, 2);
    }

    @Test
    void cancels_in_the_order_of_ids_by_several_and_heads_that_end_and_promote_neither_deadlock_nor_strand()
            throws Exception {
        List<List<Long>> keys = new ArrayList<>();
        for (int key = 0; key < 10; key++) {
            keys.add(enqueue("key-" + key, 30));
        }
        CountDownLatch passed = new CountDownLatch(4); // all cancel the tenth jobs, so that some are not too late
        for (int key = 0; key < 10; key++) {
            gates.put("key-" + key + 10, passed);
        }
        try (Worker one = steps();
                Worker two = steps()) {
            List<Future<?>> people = new ArrayList<>();
            for (int person = 0; person < 4; person++) {
                int each = person;
                people.add(threads.submit(() -> {
                    for (int no = 0; no < 30; no++) {
                        for (int key = 0; key < 10; key++) {
                            if ((no + key) % 5 == each || no % 7 == 3) { // some of them by all four at once
                                jobs.cancel(keys.get(key).get(no), ADA);
                            }
                        }
                        if (no == 10) {
                            passed.countDown();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> person : people) {
                person.get(); // a deadlock would be an error here, or a failed loop there
            }
            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(one.health().up() && two.health().up()).isTrue();
        }

        assertThat(rowlock.count(JobState.CANCELLED)).isPositive();
        assertThat(rowlock.count(JobState.COMPLETED) + rowlock.count(JobState.CANCELLED))
                .isEqualTo(300);
        assertThat(rowlock.events(LoopFailed.class)).isEmpty();
        for (int key = 0; key < 10; key++) {
            assertThat(log.of("key-" + key)).isSorted();
        }
    }

    @Test
    @Tag("B46")
    void many_dead_heads_are_unblocked_at_once_by_several_some_skipped_and_some_revived() throws Exception {
        List<Long> heads = new ArrayList<>();
        for (int key = 0; key < 20; key++) {
            deadly.add("key-" + key + 0);
            heads.add(enqueue("key-" + key, 4).get(0));
        }
        try (Worker worker = steps()) {
            soon().until(() -> rowlock.count(JobState.DEAD) == 20);
            deadly.clear();
            List<Future<?>> people = new ArrayList<>();
            for (int person = 0; person < 4; person++) {
                people.add(threads.submit(() -> {
                    for (int key = 0; key < 20; key++) {
                        if (key % 2 == 0) {
                            jobs.skip(heads.get(key), ADA);
                        } else {
                            jobs.revive(heads.get(key), ADA);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> person : people) {
                person.get();
            }
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        for (int key = 0; key < 20; key++) {
            assertThat(log.of("key-" + key)).isEqualTo(key % 2 == 0 ? List.of(1, 2, 3) : List.of(0, 1, 2, 3));
        }
        assertThat(rowlock.count(JobState.DEAD)).isEqualTo(10);
    }

    @Test
    @Tag("B46")
    void of_two_transactions_that_overlap_the_one_that_committed_first_does_not_come_first_for_it() throws Exception {
        try (Connection first = schema.begin();
                Connection second = schema.begin()) {
            for (int no = 0; no < 4; no++) {
                rowlock.rowlock()
                        .outbox()
                        .enqueue(no % 2 == 0 ? first : second, new Step("a", no), options -> options.orderingKey("a"));
            }
            second.commit();
            first.commit();
        }
        try (Worker worker = steps()) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 1, 2, 3);
    }

    private List<Long> enqueue(String key, int n) throws Exception {
        return enqueue(key, 0, n);
    }

    private List<Long> enqueue(String key, int from, int to) throws Exception {
        return rowlock
                .enqueueAll(
                        IntStream.range(from, to)
                                .mapToObj(no -> new Step(key, no))
                                .toList(),
                        options -> options.orderingKey(key))
                .stream()
                .map(Enqueued::id)
                .toList();
    }

    private CountDownLatch gate(String step) {
        return gates.computeIfAbsent(step, absent -> new CountDownLatch(1));
    }

    /** A worker that does steps, each waiting for its gate if it has one; the deadly ones fail for good. */
    private Worker steps() {
        return rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    CountDownLatch gate = gates.get(step.key() + step.no());
                    if (gate != null) {
                        gate.await();
                    }
                    if (deadly.contains(step.key() + step.no())) {
                        throw new PermanentFailure("as told");
                    }
                })));
    }
}
