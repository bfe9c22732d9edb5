package io.rowlock.key;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a dead job does to those behind it with its key, by the queue's policy, and what people do then. */
@PostgresTest
@Tag("P11")
@Tag("B46")
final class DeadHeadIT {
    @Kind("step")
    private record Step(String key, int no) {}

    private static final By ADA = new By("ada", "looked at it");

    private final Log log = new Log();
    private final Set<String> deadly = ConcurrentHashMap.newKeySet();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void a_dead_head_blocks_its_key_only_and_an_alert_says_so() throws Exception {
        deadly.add("a2");
        List<Long> ids = enqueue("a", 5);
        enqueue("b", 5);

        try (Worker worker = steps()) {
            rowlock.awaitState(ids.get(2), JobState.DEAD);
            soon().until(() -> log.of("b").size() == 5);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 1);
        assertThat(List.of(rowlock.state(ids.get(3)), rowlock.state(ids.get(4))))
                .doesNotContain(JobState.COMPLETED, JobState.DEAD);
        assertThat(schema.list(String.class, "SELECT cause FROM rowlock_alert WHERE job_id = ? ORDER BY 1", ids.get(2)))
                .containsExactly("head of a key dead", "job dead");
    }

    @Test
    void a_revived_head_runs_first_and_its_followers_after_it() throws Exception {
        deadly.add("a1");
        List<Long> ids = enqueue("a", 4);
        try (Worker worker = steps()) {
            rowlock.awaitState(ids.get(1), JobState.DEAD);
            deadly.clear();

            assertThat(rowlock.rowlock().jobs().revive(ids.get(1), ADA)).isEqualTo(JobAnswer.DONE);

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 1, 2, 3);
        assertThat(rowlock.job(ids.get(1)).progress().attempts()).isEqualTo(1);
        assertThat(rowlock.rowlock().jobs().revive(ids.get(1), ADA))
                .as("completed")
                .isEqualTo(JobAnswer.FINISHED);
    }

    @Test
    void a_skipped_head_stays_dead_and_its_followers_go_on() throws Exception {
        deadly.add("a1");
        List<Long> ids = enqueue("a", 4);
        try (Worker worker = steps()) {
            rowlock.awaitState(ids.get(1), JobState.DEAD);

            assertThat(rowlock.rowlock().jobs().skip(ids.get(2), ADA))
                    .as("not the blocker")
                    .isFalse();
            assertThat(rowlock.rowlock().jobs().skip(ids.get(1), ADA)).isTrue();

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 2, 3);
        assertThat(rowlock.state(ids.get(1))).isEqualTo(JobState.DEAD);
        assertThat(rowlock.rowlock().jobs().skip(ids.get(1), ADA)).isFalse();
    }

    @Test
    void where_the_queue_says_pass_the_followers_of_a_dead_head_go_on_and_it_can_be_revived() throws Exception {
        rowlock.rowlock().queues().deadHead("default", DeadHead.PASS, new By("ada", "followers need not wait"));
        deadly.add("a1");
        List<Long> ids = enqueue("a", 4);

        try (Worker worker = steps()) {
            rowlock.awaitAllEnded();
            assertThat(log.of("a")).containsExactly(0, 2, 3);
            deadly.clear();
            assertThat(rowlock.rowlock().jobs().revive(ids.get(1), ADA)).isEqualTo(JobAnswer.DONE);
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(0, 2, 3, 1);
        assertThat(schema.list(String.class, "SELECT cause FROM rowlock_alert")).containsExactly("job dead");
    }

    @Test
    @Tag("P2")
    void a_block_by_a_job_that_is_gone_or_dead_no_more_is_lifted_by_the_sweep() throws Exception {
        deadly.addAll(List.of("a0", "b0"));
        List<Long> a = enqueue("a", 2);
        List<Long> b = enqueue("b", 2);
        try (Worker worker = steps()) {
            rowlock.awaitState(a.get(0), JobState.DEAD);
            rowlock.awaitState(b.get(0), JobState.DEAD);
            soon().until(() -> rowlock.count(JobState.PARKED) == 2);

            schema.update("DELETE FROM rowlock_job WHERE id = ?", a.get(0));
            schema.update("UPDATE rowlock_job SET state = 'cancelled' WHERE id = ?", b.get(0));

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(1);
        assertThat(log.of("b")).containsExactly(1);
    }

    @Test
    @Tag("P2")
    @Tag("P10")
    void a_follower_that_somebody_has_locked_when_the_head_ends_runs_once_it_is_free() throws Exception {
        List<Long> ids = enqueue("a", 3);
        deadly.add("a0");
        try (Worker worker = steps()) {
            rowlock.awaitState(ids.get(0), JobState.DEAD);
            soon().until(() -> rowlock.count(JobState.PARKED) == 2);
            deadly.clear();
            enqueue("b", 3);
            try (Connection person = schema.begin();
                    Statement lock = person.createStatement()) {
                lock.execute("SELECT id FROM rowlock_job WHERE id = " + ids.get(1) + " FOR UPDATE");
                assertThat(rowlock.rowlock().jobs().skip(ids.get(0), ADA)).isTrue();
                soon().until(() -> log.of("b").size() == 3);
                assertThat(log.of("a")).isEmpty();
            }
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(log.of("a")).containsExactly(1, 2);
    }

    private List<Long> enqueue(String key, int n) throws Exception {
        return rowlock
                .enqueueAll(
                        IntStream.range(0, n).mapToObj(no -> new Step(key, no)).toList(),
                        options -> options.orderingKey(key))
                .stream()
                .map(job -> job.id())
                .toList();
    }

    private Worker steps() {
        return rowlock.work(config -> config.handle(
                Step.class,
                (step, job) -> log.during(step.key(), step.no(), () -> {
                    if (deadly.contains(step.key() + step.no())) {
                        throw new PermanentFailure("as told");
                    }
                })));
    }
}
