package io.rowlock.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Two who write one key at a time, and claims that come between two statements of an enqueue. */
@PostgresTest
final class DedupConcurrencyIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;
    private Outbox outbox;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        outbox = rowlock.rowlock().outbox();
    }

    @AfterEach
    void end() throws Exception {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    private Future<Enqueued> elsewhere(DedupMode mode) {
        return threads.submit(() -> rowlock.enqueue(new Mail(2), o -> o.dedupKey("a", mode)));
    }

    private void awaitWaiting(int sessions) {
        TestRowlock.soon()
                .until(() -> schema.count(
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND wait_event_type = 'Lock'",
                                schema.name())
                        == sessions);
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B40")
    void who_waits_for_another_transaction_is_told_of_its_job_when_that_commits(DedupMode mode) throws Exception {
        try (Connection connection = schema.begin()) {
            Enqueued first = outbox.enqueue(connection, new Mail(1), o -> o.dedupKey("a", mode));
            Future<Enqueued> second = elsewhere(mode);
            awaitWaiting(1);
            connection.commit();

            assertThat(second.get().id()).isEqualTo(first.id());
            assertThat(second.get().duplicate()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B40")
    void and_writes_its_own_when_that_rolls_back(DedupMode mode) throws Exception {
        try (Connection connection = schema.begin()) {
            Enqueued first = outbox.enqueue(connection, new Mail(1), o -> o.dedupKey("a", mode));
            Future<Enqueued> second = elsewhere(mode);
            awaitWaiting(1);
            connection.rollback();

            assertThat(second.get().duplicate()).isFalse();
            assertThat(second.get().id()).isNotEqualTo(first.id());
            assertThat(rowlock.content(second.get().id()).payload()).isEqualTo("{\"no\":2}");
        }
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B26")
    @Tag("B40")
    void a_savepoint_rolled_back_frees_the_key_at_once(DedupMode mode) throws Exception {
        try (Connection connection = schema.begin()) {
            Savepoint savepoint = connection.setSavepoint();
            outbox.enqueue(connection, new Mail(1), o -> o.dedupKey("a", mode));
            Future<Enqueued> second = elsewhere(mode);
            awaitWaiting(1);
            connection.rollback(savepoint);

            assertThat(second.get().duplicate()).isFalse();
            Enqueued third = outbox.enqueue(connection, new Mail(3), o -> o.dedupKey("a", mode));
            assertThat(third.id()).isEqualTo(second.get().id());
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE", "PUSH_BACK"})
    @Tag("B40")
    void a_job_is_not_started_before_the_transaction_of_its_duplicate_has_ended(DedupMode mode) throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a")).id();
        try (HandCrankedWorker worker = worker();
                Connection connection = schema.begin()) {
            Enqueued second = outbox.enqueue(connection, new Mail(2), o -> o.dedupKey("a", mode));

            assertThat(second.id()).isEqualTo(id);
            assertThat(worker.runNext()).as("before the commit").isFalse();
            connection.commit();
            assertThat(worker.runNext()).as("after it").isTrue();
        }
    }

    @Test
    void many_duplicates_of_a_job_that_is_kept_do_not_wait_for_each_other() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a")).id();
        try (Connection connection = schema.begin()) {
            outbox.enqueue(connection, new Mail(2), o -> o.dedupKey("a"));

            assertThat(elsewhere(DedupMode.KEEP).get(30, TimeUnit.SECONDS).id()).isEqualTo(id);
        }
    }

    @Test
    void a_claimed_job_frees_its_key() throws Exception {
        List<Enqueued> second = new ArrayList<>();
        Enqueued first = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a"));
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {
                    if (mail.no() == 1) {
                        second.add(rowlock.enqueue(new Mail(2), o -> o.dedupKey("a")));
                    }
                }))) {
            assertThat(worker.drain()).isEqualTo(2);
        }
        assertThat(second).singleElement().satisfies(answer -> {
            assertThat(answer.duplicate()).isFalse();
            assertThat(answer.id()).isGreaterThan(first.id());
        });
    }

    @ParameterizedTest
    @CsvSource({"KEEP,keep-waiting", "REPLACE,change-waiting", "PUSH_BACK,change-waiting"})
    @Tag("B40")
    void what_is_claimed_between_the_insert_and_the_look_up_is_no_duplicate(DedupMode mode, String lookUp)
            throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a")).id();
        try (HandCrankedWorker worker = worker();
                Connection connection = schema.begin()) {
            Connection interrupted = Interrupted.before(lookUp, connection, worker::runNext);

            List<Enqueued> answers = outbox.enqueueAll(
                    interrupted,
                    List.of(
                            JobRequest.of(new Mail(2), o -> o.dedupKey("a", mode)),
                            JobRequest.of(new Mail(3), o -> o.dedupKey("b", mode))));

            assertThat(answers).extracting(Enqueued::duplicate).containsOnly(false);
            assertThat(answers).extracting(Enqueued::id).isSorted().doesNotContain(id);
            connection.commit();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE waiting_key IN ('a', 'b')"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"KEEP,keep-waiting", "REPLACE,change-waiting", "PUSH_BACK,change-waiting"})
    void where_another_took_the_key_after_that_claim_the_answer_is_the_other(DedupMode mode, String lookUp)
            throws Exception {
        rowlock.enqueue(new Mail(1), o -> o.dedupKey("a"));
        List<Long> other = new ArrayList<>();
        try (HandCrankedWorker worker = worker();
                Connection connection = schema.begin()) {
            // twice: first before the look-up, then before the statement that inserts or locks
            Connection interrupted = Interrupted.before(
                    lookUp,
                    connection,
                    () -> worker.runNext()
                            && other.add(rowlock.enqueue(new Mail(9), o -> o.dedupKey("a"))
                                    .id()));

            Enqueued answer = outbox.enqueue(
                    interrupted, new Mail(2), o -> o.dedupKey("a", mode).after(Duration.ofHours(1)));

            assertThat(answer.duplicate()).isTrue();
            assertThat(answer.id()).isEqualTo(other.get(0));
            assertThat(worker.runNext()).as("it is locked").isFalse();
            connection.commit();
        }
        assertThat(rowlock.content(other.get(0)).payload())
                .isEqualTo(mode == DedupMode.REPLACE ? "{\"no\":2}" : "{\"no\":9}");
    }

    @Test
    void what_is_pruned_between_the_insert_and_the_look_up_is_no_duplicate() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a", DedupMode.ONCE))
                .id();
        try (Connection connection = schema.begin()) {
            Connection interrupted = Interrupted.before(
                    "find-once", connection, () -> schema.update("DELETE FROM rowlock_job WHERE id = ?", id));

            Enqueued answer = outbox.enqueue(interrupted, new Mail(2), o -> o.dedupKey("a", DedupMode.ONCE));

            assertThat(answer.duplicate()).isFalse();
            connection.commit();
        }
    }

    @Test
    @Tag("B40")
    void a_batch_takes_its_keys_in_one_order_so_that_it_holds_none_a_smaller_one_could_need() throws Exception {
        try (Connection connection = schema.begin()) {
            outbox.enqueue(connection, new Mail(1), o -> o.dedupKey("a"));
            Future<List<Enqueued>> batch = threads.submit(() -> rowlock.commit(other -> outbox.enqueueAll(
                    other,
                    List.of(
                            JobRequest.of(new Mail(2), o -> o.dedupKey("b")),
                            JobRequest.of(new Mail(2), o -> o.dedupKey("a"))))));
            awaitWaiting(1);

            Enqueued b = outbox.enqueue(connection, new Mail(1), o -> o.dedupKey("b"));
            connection.commit();

            assertThat(b.duplicate()).isFalse();
            assertThat(batch.get()).extracting(Enqueued::duplicate).containsExactly(true, true);
        }
    }

    @Test
    void a_batch_that_keeps_and_one_that_replaces_do_not_wait_for_each_other() throws Exception {
        rowlock.enqueue(new Mail(0), o -> o.dedupKey("m"));
        try (Connection connection = schema.begin()) {
            List<Future<List<Enqueued>>> replacing = new ArrayList<>();
            Connection interrupted = Interrupted.before("keep-waiting", connection, () -> {
                replacing.add(threads.submit(() -> rowlock.commit(other -> outbox.enqueueAll(
                        other,
                        List.of(
                                JobRequest.of(new Mail(2), o -> o.dedupKey("m", DedupMode.REPLACE)),
                                JobRequest.of(new Mail(2), o -> o.dedupKey("z", DedupMode.REPLACE)))))));
                awaitWaiting(1);
                return null;
            });

            List<Enqueued> kept = outbox.enqueueAll(
                    interrupted,
                    List.of(
                            JobRequest.of(new Mail(1), o -> o.dedupKey("m")),
                            JobRequest.of(new Mail(1), o -> o.dedupKey("z"))));
            connection.commit();

            assertThat(kept).extracting(Enqueued::duplicate).containsExactly(true, false);
            assertThat(replacing.get(0).get()).extracting(Enqueued::duplicate).containsExactly(true, true);
        }
    }

    @Test
    void batches_of_all_modes_over_a_few_keys_never_deadlock() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        List<Future<?>> writers = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
            Random random = new Random(seed + writer);
            writers.add(threads.submit(() -> {
                for (int call = 0; call < 60; call++) {
                    List<JobRequest<Mail>> batch = new ArrayList<>();
                    for (int i = random.nextInt(8); i >= 0; i--) {
                        String key = "key-" + random.nextInt(6);
                        DedupMode mode = List.of(DedupMode.values()).get(random.nextInt(4));
                        batch.add(JobRequest.of(new Mail(i), o -> o.dedupKey(key, mode)));
                    }
                    boolean commit = random.nextBoolean();
                    try (Connection connection = schema.begin()) {
                        outbox.enqueueAll(connection, batch);
                        if (commit) {
                            connection.commit();
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> writer : writers) {
            writer.get();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isBetween(6L, 12L);
    }

    private HandCrankedWorker worker() {
        return rowlock.rowlock().handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {}));
    }
}
