package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many run at once, in which order, on which threads. */
@PostgresTest
final class ConcurrencyIT {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind("sms")
    private record Sms(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    /** How many were at work at once, by name; the most of it. */
    private static final class Gauge {
        private final Map<String, AtomicInteger> now = new ConcurrentHashMap<>();
        private final Map<String, Integer> most = new ConcurrentHashMap<>();

        void during(String name, long millis) throws InterruptedException {
            int running = now.computeIfAbsent(name, n -> new AtomicInteger()).incrementAndGet();
            most.merge(name, running, Math::max);
            new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
            now.get(name).decrementAndGet();
        }

        int most(String name) {
            return most.getOrDefault(name, 0);
        }
    }

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void no_more_jobs_of_a_queue_run_at_once_than_it_says_and_as_many_as_it_says() throws Exception {
        for (String queue : List.of("a", "b")) {
            for (Priority priority : Priority.values()) {
                rowlock.enqueueAll(mails(40), o -> o.queue(queue).priority(priority));
                rowlock.enqueueAll(texts(40), o -> o.queue(queue).priority(priority));
            }
        }
        Gauge gauge = new Gauge();

        try (Worker worker = rowlock.work(w -> w.queue("a", 5)
                .queue("b", 2)
                .handle(Mail.class, (mail, job) -> gauge.during(job.queue(), 3))
                .handle(Sms.class, (sms, job) -> gauge.during(job.queue(), 3)))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(gauge.most("a")).isEqualTo(5);
        assertThat(gauge.most("b")).isEqualTo(2);
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(480);
    }

    @Test
    @Tag("P2")
    void a_kind_with_a_limit_of_one_runs_alone_in_every_queue_and_priority_and_to_the_last() throws Exception {
        for (String queue : List.of("a", "b")) {
            for (Priority priority : Priority.values()) {
                rowlock.enqueueAll(mails(15), o -> o.queue(queue).priority(priority));
                rowlock.enqueueAll(texts(30), o -> o.queue(queue).priority(priority));
            }
        }
        Gauge gauge = new Gauge();

        try (Worker worker = rowlock.work(w -> w.queue("a", 8)
                .queue("b", 8)
                .handle(Mail.class, (mail, job) -> gauge.during("mail", 2), h -> h.concurrency(1))
                .handle(Sms.class, (sms, job) -> gauge.during("sms", 2), h -> h.concurrency(4)))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(gauge.most("mail")).isEqualTo(1);
        assertThat(gauge.most("sms")).isBetween(2, 4);
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(270);
    }

    @Test
    void a_kind_with_a_limit_of_one_runs_while_another_kind_floods_its_queue() throws Exception {
        rowlock.enqueueAll(texts(3_000));
        rowlock.enqueueAll(mails(5), o -> o.priority(Priority.LOW));
        AtomicInteger textsLeftAtLastMail = new AtomicInteger(-1);
        AtomicInteger textsLeft = new AtomicInteger(3_000);
        AtomicInteger mailsLeft = new AtomicInteger(5);

        try (Worker worker = rowlock.work(w -> w.queue("default", 4)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            if (mailsLeft.decrementAndGet() == 0) {
                                textsLeftAtLastMail.set(textsLeft.get());
                            }
                        },
                        h -> h.concurrency(1))
                .handle(Sms.class, (sms, job) -> textsLeft.decrementAndGet()))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(textsLeftAtLastMail.get())
                .as("low ones wait for normal ones")
                .isLessThan(3_000);
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(3_005);
    }

    @Test
    void higher_priorities_go_first_and_within_one_the_older() throws Exception {
        List<Integer> order = orderOf(3, Mail::no, w -> {});

        assertThat(order)
                .containsExactlyElementsOf(IntStream.range(0, 9).boxed().toList());
    }

    @Test
    void higher_priorities_go_first_for_a_kind_with_a_limit_too() throws Exception {
        List<Integer> order = orderOf(3, Mail::no, h -> h.concurrency(1));

        assertThat(order)
                .containsExactlyElementsOf(IntStream.range(0, 9).boxed().toList());
    }

    /** Writes low, then normal, then high jobs, no more than go before a lower one's share, numbered as they should run; gives how they ran, one at a time. */
    private List<Integer> orderOf(
            int each, ToIntFunction<Mail> number, java.util.function.Consumer<HandlerConfig> options) throws Exception {
        for (Priority priority : List.of(Priority.LOW, Priority.NORMAL, Priority.HIGH)) {
            List<Mail> mails = IntStream.range(0, each)
                    .mapToObj(i -> new Mail(priority.level() * each + i))
                    .toList();
            rowlock.enqueueAll(mails, o -> o.priority(priority));
        }
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        try (Worker worker = rowlock.work(w ->
                w.queue("default", 1).handle(Mail.class, (mail, job) -> order.add(number.applyAsInt(mail)), options))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        return new ArrayList<>(order);
    }

    @Test
    @Tag("P12")
    void queues_that_are_not_served_are_left_alone() throws Exception {
        List<Long> foreign = new ArrayList<>();
        rowlock.enqueueAll(mails(10), o -> o.queue("theirs")).forEach(job -> foreign.add(job.id()));
        schema.execute("UPDATE rowlock_job SET locked_by = 'gone', attempts = 1, token = 1,"
                + " locked_until = clock_timestamp() - interval '1 day' WHERE id = " + foreign.get(0));
        String rows = "SELECT j::text FROM rowlock_job j WHERE queue = 'theirs' ORDER BY id";
        List<String> before = schema.list(String.class, rows);
        long own = rowlock.enqueue(new Mail(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            rowlock.awaitState(own, JobState.COMPLETED);
            long later = rowlock.enqueue(new Mail(2)).id();
            rowlock.awaitState(later, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(String.class, rows)).isEqualTo(before).hasSize(10);
    }

    @Test
    void handlers_run_on_the_executor_that_was_given() throws Exception {
        Map<String, Boolean> threads = new ConcurrentHashMap<>();
        Executor threadEach = task -> new Thread(task, "mine").start();
        rowlock.enqueueAll(mails(100));

        try (Worker worker = rowlock.work(w -> w.executor(threadEach)
                .handle(
                        Mail.class,
                        (mail, job) -> threads.put(Thread.currentThread().getName(), true)))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().running()).isLessThanOrEqualTo(10);
        }

        assertThat(threads).containsOnlyKeys("mine");
    }

    @Test
    @Tag("P6")
    void an_executor_that_refuses_costs_no_attempt_and_no_slot() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger asked = new AtomicInteger();
        Executor moody = task -> {
            if (asked.incrementAndGet() % 3 != 0) {
                refused.incrementAndGet();
                throw new RejectedExecutionException("no thread left");
            }
            new Thread(task).start();
        };
        rowlock.enqueueAll(mails(9)); // few, as each refusal makes the next pause longer

        try (Worker worker =
                rowlock.work(w -> w.queue("default", 2).executor(moody).handle(Mail.class, (mail, job) -> {}))) {
            rowlock.awaitAllEnded();
            TestRowlock.soon().until(() -> worker.health().running() == 0);
        }

        assertThat(refused.get()).isPositive();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed' AND attempts = 1"))
                .isEqualTo(9);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    @Tag("P3")
    void two_workers_share_five_thousand_jobs_and_run_each_once() throws Exception {
        rowlock.enqueueAll(mails(5_000));
        Map<Integer, Integer> runs = new ConcurrentHashMap<>();
        Map<String, Integer> shares = new ConcurrentHashMap<>();
        CountDownLatch oneHasAJob = new CountDownLatch(1);
        CountDownLatch twoHasAJob = new CountDownLatch(1);

        // Neither ends a job before both have one, so that one cannot run all of them while the other starts.
        try (Worker one = rowlock.work(w -> w.name("one").queue("default", 4).handle(Mail.class, (mail, job) -> {
                    oneHasAJob.countDown();
                    twoHasAJob.await();
                    runs.merge(mail.no(), 1, Integer::sum);
                    shares.merge("one", 1, Integer::sum);
                }));
                Worker two = rowlock.work(w -> w.name("two").queue("default", 4).handle(Mail.class, (mail, job) -> {
                    twoHasAJob.countDown();
                    oneHasAJob.await();
                    runs.merge(mail.no(), 1, Integer::sum);
                    shares.merge("two", 1, Integer::sum);
                }))) {
            rowlock.awaitAllEnded();
            assertThat(one.health().loops()).isEmpty();
            assertThat(two.health().loops()).isEmpty();
        }

        assertThat(runs).hasSize(5_000);
        assertThat(runs.values()).containsOnly(1);
        assertThat(shares).containsOnlyKeys("one", "two");
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed' AND attempts = 1"))
                .isEqualTo(5_000);
    }

    private static List<Mail> mails(int n) {
        return IntStream.range(0, n).mapToObj(Mail::new).toList();
    }

    private static List<Sms> texts(int n) {
        return IntStream.range(0, n).mapToObj(Sms::new).toList();
    }
}
