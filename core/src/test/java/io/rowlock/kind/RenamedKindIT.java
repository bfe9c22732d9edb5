package io.rowlock.kind;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A kind gets another name while jobs of the old one wait. */
@PostgresTest
final class RenamedKindIT {
    /** As the release before knows it. */
    @Kind("order-mail")
    private record OrderMail(int no, String to) {}

    @Kind(value = "order-confirmation", aliases = "order-mail", version = 2)
    private record OrderConfirmation(int no, String recipient) {}

    private TestSchema schema;
    private TestRowlock after;
    private TestRowlock before;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        after = TestRowlock.fresh(schema);
        before = TestRowlock.beside(schema);
    }

    /** Old jobs are done by both, new ones wait for a worker that knows them; none is lost, none done twice. */
    /** By the new name old rows are found too, once this process knows the alias; by the old name they alone. */
    @Test
    @Tag("B39")
    void jobs_are_found_by_the_new_name_whatever_name_they_were_written_under() throws Exception {
        long old = before.enqueue(new OrderMail(1, "a@example.org")).id();
        long dead = before.enqueue(new OrderMail(2, "a@example.org")).id();
        schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp() WHERE id = " + dead);
        long renamed = after.enqueue(new OrderConfirmation(3, "b@example.org")).id();
        Jobs jobs = after.rowlock().jobs();
        JobQuery query = JobQuery.all().kind("order-confirmation");

        assertThat(ids(jobs.find(query))).containsExactly(renamed, dead, old);
        assertThat(ids(jobs.find(query.state(JobState.DEAD)))).containsExactly(dead);
        assertThat(ids(jobs.find(query.state(JobState.DEAD).queue("default")))).containsExactly(dead);
        assertThat(jobs.ofKind("order-confirmation")).extracting(Job::id).containsExactly(old, dead, renamed);
        assertThat(ids(jobs.find(JobQuery.all().kind("order-mail")))).containsExactly(dead, old);
        assertThat(jobs.changeAll(query, new JobChange.Cancel(), new By("ada", "test"), tally -> {})
                        .done())
                .isEqualTo(2);
        assertThat(ids(before.rowlock().jobs().find(query)))
                .as("it knows no alias")
                .containsExactly(renamed);
    }

    private static List<Long> ids(JobPage page) {
        return page.jobs().stream().map(Job::id).toList();
    }

    @Test
    @Tag("P12")
    @Tag("B39")
    void rolling_deploy_of_two_workers_does_every_job_once() throws Exception {
        Queue<Integer> byOld = new ConcurrentLinkedQueue<>();
        Queue<Integer> byNew = new ConcurrentLinkedQueue<>();
        for (int no = 0; no < 20; no++) {
            before.enqueue(new OrderMail(no, "a@example.org"));
        }
        try (Worker old =
                before.work(w -> w.queue("default", 1).handle(OrderMail.class, (mail, job) -> byOld.add(mail.no())))) {
            soon().until(() -> !byOld.isEmpty());
            long waits =
                    after.enqueue(new OrderConfirmation(100, "b@example.org")).id();
            for (int no = 20; no < 40; no++) {
                before.enqueue(new OrderMail(no, "a@example.org"));
            }
            try (Worker renamed = after.work(w -> w.queue("default", 1)
                    .handle(
                            OrderConfirmation.class,
                            (mail, job) -> {
                                assertThat(mail.recipient()).endsWith("@example.org");
                                byNew.add(mail.no());
                            },
                            h -> h.upcast(1, OrderMail.class, mail -> new OrderConfirmation(mail.no(), mail.to()))))) {
                after.awaitAllEnded();
                assertThat(after.state(waits)).isEqualTo(JobState.COMPLETED);
                assertThat(byNew).contains(100);
                assertThat(byOld.size() + byNew.size()).isEqualTo(41);
                assertThat(after.count(JobState.COMPLETED)).isEqualTo(41);
                assertThat(renamed.health().up()).isTrue();
            }
            after.enqueue(new OrderConfirmation(101, "b@example.org"));
            before.enqueue(new OrderMail(41, "a@example.org"));
            soon().until(() -> byOld.contains(41));
            assertThat(old.health().up()).isTrue();
        }
        assertThat(byOld).doesNotContain(100, 101);
        assertThat(after.rowlock().jobs().ofKind("order-confirmation"))
                .filteredOn(job -> job.state() == JobState.READY)
                .singleElement()
                .satisfies(job -> assertThat(job.progress().attempts()).isZero());
    }

    @Test
    void jobs_of_both_names_share_the_limit_of_the_kind() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Set<String> names = ConcurrentHashMap.newKeySet();
        CountDownLatch go = new CountDownLatch(1);
        for (int no = 0; no < 10; no++) {
            before.enqueue(new OrderMail(no, "a@example.org"));
            after.enqueue(new OrderConfirmation(no, "a@example.org"));
        }
        try (Worker worker = after.work(w -> w.queue("default", 8)
                .handle(
                        OrderConfirmation.class,
                        (mail, job) -> {
                            most.accumulateAndGet(running.incrementAndGet(), Math::max);
                            names.add(job.kind());
                            go.await();
                            running.decrementAndGet();
                        },
                        h -> h.concurrency(2).upcast(1, json -> json)))) {
            soon().until(() -> running.get() == 2);
            go.countDown();
            after.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }
        assertThat(most.get()).isEqualTo(2);
        assertThat(names).containsExactlyInAnyOrder("order-mail", "order-confirmation");
    }

    @Test
    @Tag("P15")
    void old_name_is_not_written_where_the_new_one_answers_to_it() throws Exception {
        after.rowlock().worker(w -> w.handle(OrderConfirmation.class, (mail, job) -> {}));

        assertThatThrownBy(() -> after.enqueue(new OrderMail(1, "a@example.org")))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Kind order-mail stands for two payload types");
        assertThatThrownBy(() -> after.rowlock()
                        .worker(w -> w.handle(OrderConfirmation.class, (mail, job) -> {})
                                .handle(OrderMail.class, (mail, job) -> {})))
                .hasMessageContaining("Kind order-mail has two handlers in one worker");
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
    }
}
