package io.rowlock.wake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.outbox.PreparingOutbox;
import io.rowlock.internal.outbox.WakingOutbox;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With a poll of an hour, what runs in these tests runs because the transaction told of its commit. */
@PostgresTest
final class AfterCommitIT {
    @Kind("mail")
    private record Mail(int no) {}

    private static final JobKind<Mail> OTHER = JobKind.named("other", Mail.class);

    private final TestSchema schema;
    private final TellingTransactions transactions;
    private TestRowlock rowlock;

    AfterCommitIT(TestSchema schema) {
        this.schema = schema;
        this.transactions = new TellingTransactions(schema);
    }

    @BeforeEach
    void install() throws Exception {
        rowlock = TestRowlock.fresh(
                schema, builder -> builder.afterCommit(transactions).notifications(true));
    }

    @Test
    void an_enqueue_wakes_the_workers_by_itself_after_the_commit() throws Exception {
        try (Worker worker = sleeper(rowlock)) {
            for (int no = 1; no <= 10; no++) {
                Mail mail = new Mail(no);
                Enqueued job = transactions.commit(connection -> outbox(connection, mail));
                rowlock.awaitState(job.id(), JobState.COMPLETED);
            }
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P1")
    void nothing_is_told_before_the_commit_nor_after_a_rollback() throws Exception {
        try (Witness witness = new Witness(schema)) {
            Enqueued rolledBack = transactions.rollBack(connection -> outbox(connection, new Mail(1)));
            Enqueued other = transactions.commit(connection -> {
                Enqueued inner = transactions.commit(
                        inside -> rowlock.rowlock().outbox().enqueue(inside, OTHER, new Mail(2), job -> {}));
                assertThat(witness.next()).contains("\n" + inner.id() + " default other ");
                return outbox(connection, new Mail(3));
            });
            assertThat(other.id()).isGreaterThan(rolledBack.id());
            assertThat(witness.next())
                    .contains("\n" + other.id() + " default mail ")
                    .doesNotContain("\n" + rolledBack.id() + ' ');
        }
    }

    @Test
    @Tag("P9")
    void one_call_of_the_outbox_has_one_thing_done_after_the_commit_however_many_jobs_it_writes() throws Exception {
        List<JobRequest<?>> many = new ArrayList<>();
        for (int no = 0; no < 2_000; no++) {
            many.add(JobRequest.of(new Mail(no)));
        }
        try (Witness witness = new Witness(schema)) {
            List<Enqueued> written = transactions.commit(connection -> {
                List<Enqueued> jobs = rowlock.rowlock().outbox().enqueueAll(connection, many);
                assertThat(transactions.registered(connection)).isEqualTo(1);
                rowlock.rowlock().outbox().enqueueAll(connection, List.of());
                assertThat(transactions.registered(connection)).isEqualTo(1);
                return jobs;
            });
            assertThat(witness.next().lines())
                    .hasSize(2)
                    .anyMatch(line -> line.startsWith(written.get(0).id() + " default mail "));
        }
    }

    @Test
    void of_a_transaction_that_is_not_known_the_caller_tells() throws Exception {
        try (Worker worker = sleeper(rowlock)) {
            Enqueued job = rowlock.enqueue(new Mail(1));
            rowlock.rowlock().wake(List.of(job));
            rowlock.awaitState(job.id(), JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P15")
    void one_that_throws_leaves_the_transaction_and_the_answer_as_they_are() throws Exception {
        TestRowlock failing = TestRowlock.fresh(
                schema,
                builder -> builder.afterCommit((connection, action) -> {
                    throw new IllegalStateException("no transaction");
                }));
        Enqueued first = failing.enqueue(new Mail(1));
        Enqueued second = failing.enqueue(new Mail(2));

        assertThat(failing.state(first.id())).isEqualTo(JobState.READY);
        try (Worker worker = failing.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            failing.awaitState(second.id(), JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void waking_that_fails_does_not_reach_the_transaction_that_has_committed() throws Exception {
        WakingOutbox outbox =
                new WakingOutbox((PreparingOutbox) rowlock.rowlock().outbox(), transactions, committed -> {
                    throw new IllegalStateException("no worker");
                });
        assertThatCode(() -> transactions.commit(connection -> outbox.enqueue(connection, new Mail(1))))
                .doesNotThrowAnyException();
        assertThat(rowlock.count(JobState.READY)).isEqualTo(1);
    }

    private Enqueued outbox(Connection connection, Mail mail) {
        return rowlock.rowlock().outbox().enqueue(connection, mail);
    }

    /** A worker with an hour between two polls that has done its first. */
    static Worker sleeper(TestRowlock rowlock) {
        Worker worker = rowlock.start(
                w -> w.poll(Duration.ofHours(1)).queue("default", 2).handle(Mail.class, (mail, job) -> {}));
        TestRowlock.soon().until(() -> worker.health().sinceClaim() != null);
        return worker;
    }
}
