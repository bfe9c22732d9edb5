package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.fixture.CountedStatements;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.JobTally;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A revived job has its dedup key, or is one with the job that has it; for a key that another transaction writes nobody else waits. */
@PostgresTest
final class RevivedKeyIT {
    @Kind("mail")
    private record Mail(int no) {}

    private static final By ADA = new By("ada", "INC-7");
    private static final JobQuery DEAD = JobQuery.all().state(JobState.DEAD);
    private static final JobQuery CANCELLED = JobQuery.all().state(JobState.CANCELLED);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private CountedStatements statements;
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        statements = new CountedStatements(schema);
        rowlock = TestRowlock.over(statements);
        jobs = rowlock.rowlock().jobs();
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    @Tag("P10")
    void in_bulk_a_job_whose_key_an_open_transaction_writes_is_left_and_counted_and_the_others_are_done()
            throws Exception {
        List<Long> dead = dead(10);
        try (Connection open = schema.begin()) {
            for (int i = 0; i < 4; i++) {
                enqueue(open, i);
            }

            JobTally tally = all(DEAD);

            assertThat(tally).isEqualTo(new JobTally(6, 0, 0, 4, 0, tally.left(), null));
            assertThat(tally.left()).containsExactlyElementsOf(dead.subList(0, 4));
            assertThat(waitingWithoutKey())
                    .as("none stands beside the one that is enqueued")
                    .isZero();
            assertThat(rowlock.count(JobState.DEAD)).isEqualTo(4);
            assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(6);
            open.commit();
        }
        assertThat(all(DEAD)).isEqualTo(new JobTally(0, 0, 0, 0, 4, List.of(), null));
        assertThat(rowlock.count(JobState.READY)).isEqualTo(10);
        assertThat(waitingWithoutKey()).isZero();
    }

    @Test
    @Tag("P10")
    void no_lock_is_held_while_a_single_revive_waits_for_a_key_and_it_has_it_when_that_is_free() throws Exception {
        long dead = dead(1).get(0);
        try (Connection open = schema.begin()) {
            enqueue(open, 0);
            Future<JobAnswer> ada = threads.submit(() -> jobs.revive(dead, ADA));
            Future<JobAnswer> bob = threads.submit(() -> jobs.revive(dead, new By("bob", "too")));
            // both have tried more than once: the row is free for anybody in between
            soon().until(() -> free(dead) && statements.of("retake-key") > 4);
            assertThat(ada).isNotDone();
            assertThat(bob).isNotDone();
            open.rollback();
            assertThat(List.of(ada.get(), bob.get())).containsExactlyInAnyOrder(JobAnswer.DONE, JobAnswer.UNFINISHED);
        }
        assertThat(rowlock.enqueue(new Mail(0), o -> o.dedupKey("K0")).id()).isEqualTo(dead);
    }

    @Test
    void a_single_revive_whose_key_is_not_to_be_had_changes_nothing() throws Exception {
        long dead = dead(1).get(0);
        try (Connection open = schema.begin()) {
            enqueue(open, 0);
            assertThatThrownBy(() -> jobs.revive(dead, ADA))
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("Another transaction writes its dedup key (job=" + dead + ")");
        }
        assertThat(rowlock.state(dead)).isEqualTo(JobState.DEAD);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isZero();
    }

    @Test
    void one_that_is_merged_away_is_told_as_such_each_time() throws Exception {
        long dead = dead(1).get(0);
        long waiting = rowlock.enqueue(new Mail(9), o -> o.dedupKey("K0", DedupMode.KEEP))
                .id();

        assertThat(jobs.revive(dead, ADA)).isEqualTo(JobAnswer.MERGED);
        assertThat(rowlock.events(JobMerged.class)).containsExactly(new JobMerged(dead, "default", "mail", waiting));
        for (int i = 0; i < 2; i++) {
            assertThat(all(CANCELLED)).isEqualTo(new JobTally(0, 0, 0, 0, 1, List.of(), null));
        }
        assertThat(rowlock.state(dead)).isEqualTo(JobState.CANCELLED);
        assertThat(rowlock.state(waiting)).isEqualTo(JobState.READY);
    }

    @Test
    void a_move_to_where_a_job_is_changes_nothing_and_is_passed() throws Exception {
        rowlock.enqueueAll(List.of(new Mail(1), new Mail(2)));
        rowlock.enqueue(new Mail(3), o -> o.queue("other"));
        JobChange move = new JobChange.Move("other");

        assertThat(jobs.changeAll(JobQuery.all(), move, ADA, tally -> {}))
                .isEqualTo(new JobTally(2, 1, 0, 0, 0, List.of(), null));
        assertThat(jobs.changeAll(JobQuery.all(), move, ADA, tally -> {}))
                .isEqualTo(new JobTally(0, 3, 0, 0, 0, List.of(), null));
        long id = schema.count("SELECT min(id) FROM rowlock_job");
        assertThat(jobs.move(id, "other", ADA)).isEqualTo(JobAnswer.ALREADY);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(2);
    }

    private List<Long> dead(int n) throws Exception {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int no = i;
            ids.add(rowlock.enqueue(new Mail(i), o -> o.dedupKey("K" + no)).id());
        }
        schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp(), waiting_key = NULL");
        return ids;
    }

    private void enqueue(Connection open, int no) {
        rowlock.rowlock().outbox().enqueue(open, new Mail(no), o -> o.dedupKey("K" + no));
    }

    private JobTally all(JobQuery query) {
        return jobs.changeAll(query, new JobChange.Revive(), ADA, tally -> {});
    }

    private long waitingWithoutKey() throws Exception {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND waiting_key IS NULL");
    }

    private boolean free(long id) throws Exception {
        return schema.count("SELECT count(*) FROM (SELECT 1 FROM rowlock_job WHERE id = " + id
                        + " FOR UPDATE SKIP LOCKED) row")
                == 1;
    }
}
