package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.JobTally;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Changes of many jobs: in batches, each whole or not at all; what breaks off goes on; what is locked is left and told. */
@PostgresTest
@Tag("P14")
final class ManyJobsIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "INC-7");
    private static final JobQuery DEAD = JobQuery.all().state(JobState.DEAD);

    private final ExecutorService threads = Executors.newCachedThreadPool();
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
    void all_dead_jobs_of_a_kind_are_revived_with_progress_and_a_row_for_each() throws Exception {
        dead("step", 250);
        dead("other", 5);
        List<JobTally> told = new ArrayList<>();

        JobTally tally = jobs.changeAll(JobQuery.all().kind("step"), new JobChange.Revive(), ADA, told::add);

        assertThat(tally).isEqualTo(new JobTally(250, 0, 0, 0, 0, List.of(), null));
        assertThat(told).extracting(JobTally::done).containsExactly(100L, 200L, 250L);
        assertThat(states()).containsExactly("dead 5", "ready 250");
        assertThat(schema.count(
                        "SELECT count(DISTINCT job_id) FROM rowlock_operation WHERE what = 'revive' AND who = 'ada'"))
                .isEqualTo(250);
        try (Worker worker = rowlock.work(w -> w.handle(Step.class, (step, job) -> {}))) {
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 250);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void every_change_is_for_many_jobs_too() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, run_at) SELECT 'step', '{\"no\":1}',"
                + " clock_timestamp() + interval '1 day' FROM generate_series(1, 20)");
        Instant at = Instant.parse("2030-01-01T00:00:00Z");

        assertThat(all(JobQuery.all(), new JobChange.Reschedule(at)).done()).isEqualTo(20);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE run_at = '2030-01-01Z'"))
                .isEqualTo(20);
        assertThat(all(JobQuery.all(), new JobChange.Move("other")).done()).isEqualTo(20);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE queue = 'other'"))
                .isEqualTo(20);
        assertThat(all(JobQuery.all(), new JobChange.Delete()).done()).isZero();
        assertThat(all(JobQuery.all().queue("other"), new JobChange.Cancel()).done())
                .isEqualTo(20);
        assertThat(all(JobQuery.all(), new JobChange.Delete()).done()).isEqualTo(20);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(80);
    }

    @Test
    void what_is_stopped_half_way_goes_on_from_where_it_was() throws Exception {
        dead("step", 350);
        List<JobTally> told = new ArrayList<>();

        JobTally first = jobs.changeAll(DEAD, new JobChange.Revive(), ADA, tally -> {
            told.add(tally);
            if (told.size() == 2) {
                Thread.currentThread().interrupt();
            }
        });

        assertThat(Thread.interrupted()).as("it stays interrupted").isTrue();
        assertThat(first.done()).isEqualTo(200);
        assertThat(first.next()).isPresent();
        JobTally rest = all(DEAD.after(first.next().orElseThrow()), new JobChange.Revive());
        assertThat(rest.done()).isEqualTo(150);
        assertThat(states()).containsExactly("ready 350");
    }

    @Test
    @Tag("P1")
    void a_batch_that_is_killed_leaves_nothing_of_itself_and_the_same_call_goes_on() throws Exception {
        dead("step", 250);
        schema.execute("CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN IF (SELECT count(*) FROM rowlock_operation) > 150 THEN"
                + " PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NEW; END $$;"
                + "CREATE TRIGGER die AFTER INSERT ON rowlock_operation FOR EACH ROW EXECUTE FUNCTION die()");
        try {
            assertThatThrownBy(() -> all(DEAD, new JobChange.Revive()))
                    .hasMessageContaining("the same call goes on with the rest");
        } finally {
            schema.execute("DROP TRIGGER die ON rowlock_operation; DROP FUNCTION die()");
        }
        assertThat(states()).containsExactly("dead 150", "ready 100");
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(100);

        assertThat(all(DEAD, new JobChange.Revive()).done()).isEqualTo(150);
    }

    @Test
    @Tag("P10")
    void rows_that_others_hold_are_left_and_named_and_the_others_are_done() throws Exception {
        dead("step", 120);
        long held = schema.count("SELECT min(id) + 30 FROM rowlock_job");
        try (Connection other = schema.begin()) {
            other.createStatement().execute("SELECT 1 FROM rowlock_job WHERE id = " + held + " FOR UPDATE");

            JobTally tally = all(DEAD, new JobChange.Delete());

            assertThat(tally).isEqualTo(new JobTally(119, 0, 0, 1, 0, List.of(held), null));
        }
        assertThat(all(DEAD, new JobChange.Delete()).done()).isEqualTo(1);
    }

    @Test
    @Tag("P3")
    void running_jobs_are_cancelled_too_and_their_handlers_told() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        schema.execute("CREATE TABLE IF NOT EXISTS effect (no int)");
        for (int i = 0; i < 6; i++) {
            rowlock.enqueue(new Step(i));
        }
        try (Worker worker = rowlock.work(w ->
                w.queue("default", 2).handleTransactionally(Step.class, (step, job, connection) -> gate.await()))) {
            soon().until(() -> worker.health().running() == 2);

            JobTally tally = all(JobQuery.all(), new JobChange.Cancel());

            assertThat(tally.done()).isEqualTo(6);
            soon().until(() ->
                    rowlock.count(JobState.CANCELLED) == 6 && worker.health().running() == 0);
        }
    }

    @Test
    @Tag("P11")
    void many_at_once_with_workers_and_ordering_keys_meet_no_deadlock_and_lose_nothing() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, ordering_key, state, finished_at)"
                        + " SELECT 'step', '{\"no\":1}', 'key-' || (n * 7) % 13, 'dead', clock_timestamp() FROM generate_series(1, 400) n");
        try (Worker one = rowlock.work(w -> w.handle(Step.class, (step, job) -> {}));
                Worker two = rowlock.work(w -> w.handle(Step.class, (step, job) -> {}))) {
            List<Future<JobTally>> people = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                people.add(threads.submit(() -> all(DEAD, new JobChange.Revive())));
            }
            long done = 0;
            for (Future<JobTally> person : people) {
                done += person.get().done();
            }
            done += all(DEAD, new JobChange.Revive()).done(); // what all three had left as locked by another
            assertThat(done).isEqualTo(400);
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 400);
            assertThat(one.health().up() && two.health().up()).isTrue();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(400);
    }

    @Test
    void a_change_for_other_states_than_asked_for_does_nothing_and_a_given_connection_is_refused() throws Exception {
        dead("step", 3);
        assertThat(all(DEAD, new JobChange.Cancel())).isEqualTo(new JobTally(0, 0, 0, 0, 0, List.of(), null));
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> jobs.in(connection).changeAll(DEAD, new JobChange.Revive(), ADA, tally -> {}))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("each batch is a transaction of its own");
        }
        assertThatThrownBy(() -> jobs.changeAll(DEAD, new JobChange.Revive(), null, tally -> {}))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> new JobChange.Move("")).isInstanceOf(InvalidUseException.class);
    }

    private JobTally all(JobQuery query, JobChange change) {
        return jobs.changeAll(query, change, ADA, tally -> {});
    }

    private void dead(String kind, int n) throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at, attempts)"
                        + " SELECT ?, '{\"no\":1}', 'dead', clock_timestamp(), 3 FROM generate_series(1, ?)",
                kind,
                n);
    }

    private List<String> states() throws Exception {
        return schema.list(
                String.class, "SELECT state || ' ' || count(*) FROM rowlock_job GROUP BY state ORDER BY state");
    }
}
