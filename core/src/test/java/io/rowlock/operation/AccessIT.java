package io.rowlock.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who may read what jobs carry, and change them, says the application; what is read is kept like what is done. */
@PostgresTest
final class AccessIT {
    @Kind("secret")
    private record Secret(String text) {}

    private static final By ADA = new By("ada", "INC-7");
    private static final By EVE = new By("eve", "curious");

    private final Queue<Access> asked = new ConcurrentLinkedQueue<>();
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(
                schema,
                builder -> builder.access(access -> {
                    asked.add(access);
                    return !access.by().who().equals("eve") && !access.queue().equals("closed");
                }));
        jobs = rowlock.rowlock().jobs();
    }

    @Test
    void what_a_job_carries_is_read_by_those_who_may_and_that_is_kept() throws Exception {
        long id = secret();

        assertThat(jobs.content(id, ADA)).contains(new Job.Content("{\"text\":\"x\"}", Map.of("tenant", "acme")));
        assertThat(jobs.content(4711, ADA)).isEmpty();
        assertThatThrownBy(() -> jobs.content(id, EVE))
                .isInstanceOf(AccessRefusedException.class)
                .hasMessageContaining("refused to let eve read a job (job=" + id + ", kind=secret, queue=default)");

        assertThat(kept()).containsExactly("ada read");
        assertThat(asked)
                .containsExactly(
                        new Access(Action.READ, Target.JOB, ADA, String.valueOf(id), "secret", "default", "Person:1"),
                        new Access(Action.READ, Target.JOB, EVE, String.valueOf(id), "secret", "default", "Person:1"));
    }

    @Test
    @Tag("P1")
    void a_read_over_a_given_connection_is_kept_though_that_rolls_back() throws Exception {
        try (Connection connection = schema.begin()) {
            long id = rowlock.rowlock()
                    .outbox()
                    .enqueue(connection, new Secret("mine"))
                    .id();
            assertThat(jobs.in(connection).content(id, ADA))
                    .hasValueSatisfying(content -> assertThat(content.payload()).contains("mine"));
            connection.rollback();
        }
        assertThat(kept()).containsExactly("ada read");
    }

    @Test
    void nobody_sees_what_a_job_carries_in_what_is_found() throws Exception {
        long id = secret();

        assertThat(jobs.find(id).orElseThrow().toString()).doesNotContain("text", "acme");
        assertThat(jobs.ofSubject("Person:1").toString()).doesNotContain("text", "acme");
        assertThat(jobs.ofKind("secret").toString()).doesNotContain("text", "acme");
        assertThat(jobs.find(JobQuery.all()).jobs().toString()).doesNotContain("text", "acme");
        assertThat(asked).isEmpty();
    }

    @Test
    void who_may_not_changes_nothing() throws Exception {
        long waiting = secret();
        long dead = secret();
        schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp() WHERE id = " + dead);
        List<Map<String, Object>> before = schema.rows("SELECT * FROM rowlock_job ORDER BY id");

        assertThatThrownBy(() -> jobs.cancel(waiting, EVE)).isInstanceOf(AccessRefusedException.class);
        assertThatThrownBy(() -> jobs.reschedule(waiting, Instant.EPOCH, EVE))
                .isInstanceOf(AccessRefusedException.class);
        assertThatThrownBy(() -> jobs.move(waiting, "other", EVE)).isInstanceOf(AccessRefusedException.class);
        assertThatThrownBy(() -> jobs.move(waiting, "closed", ADA)).isInstanceOf(AccessRefusedException.class);
        assertThatThrownBy(() -> jobs.revive(dead, EVE)).isInstanceOf(AccessRefusedException.class);
        assertThatThrownBy(() -> jobs.delete(dead, EVE)).isInstanceOf(AccessRefusedException.class);
        assertThat(jobs.redact("Person:1", EVE).refused()).isEqualTo(1);
        assertThat(jobs.changeAll(JobQuery.all(), new JobChange.Revive(), EVE, tally -> {})
                        .refused())
                .isEqualTo(1);
        assertThat(jobs.changeAll(JobQuery.all(), new JobChange.Cancel(), EVE, tally -> {})
                        .refused())
                .isEqualTo(1);

        assertThat(schema.rows("SELECT * FROM rowlock_job ORDER BY id").toString())
                .isEqualTo(before.toString());
        assertThat(kept()).isEmpty();
    }

    @Test
    void of_many_jobs_those_that_are_refused_are_left_and_the_others_done() throws Exception {
        for (int i = 0; i < 10; i++) {
            String queue = i % 2 == 0 ? "closed" : "open";
            rowlock.enqueue(new Secret("x"), o -> o.queue(queue));
        }
        assertThat(jobs.changeAll(JobQuery.all(), new JobChange.Cancel(), ADA, tally -> {}))
                .satisfies(tally -> {
                    assertThat(tally.done()).isEqualTo(5);
                    assertThat(tally.refused()).isEqualTo(5);
                });
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE queue = 'closed' AND state = 'ready'"))
                .isEqualTo(5);
    }

    /** Neither the class of the payload nor a codec that can read it is there. */
    @Test
    @Tag("B39")
    void jobs_that_nobody_can_read_are_found_counted_changed_and_deleted() throws Exception {
        Jobs blind = TestRowlock.fresh(
                        schema,
                        builder -> builder.codec(new PayloadCodec() {
                            @Override
                            public String encode(Object payload) {
                                throw new IllegalStateException("no codec");
                            }

                            @Override
                            public <T> T decode(String json, Class<T> type) {
                                throw new IllegalStateException("no codec");
                            }
                        }))
                .rowlock()
                .jobs();
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, headers, subject)"
                        + " SELECT 'gone', '[\"\\u0000\", {\"not\": \"what it was\"}]', '{\"h\":\"v\"}', 'Order:1' FROM generate_series(1, 6)");

        assertThat(blind.find(JobQuery.all().kind("gone")).jobs()).hasSize(6);
        assertThat(blind.load()).hasSize(1);
        long id = blind.ofSubject("Order:1").get(0).id();
        assertThat(blind.content(id, ADA)).isPresent();
        assertThat(blind.changeAll(JobQuery.all(), new JobChange.Cancel(), ADA, tally -> {})
                        .done())
                .isEqualTo(6);
        assertThat(blind.redact("Order:1", ADA).redacted()).isEqualTo(6);
        assertThat(blind.changeAll(JobQuery.all(), new JobChange.Delete(), ADA, tally -> {})
                        .done())
                .isEqualTo(6);
    }

    private long secret() throws Exception {
        long id = rowlock.enqueue(new Secret("x"), o -> o.subject("Person:1").header("tenant", "acme"))
                .id();
        assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
        return id;
    }

    private List<String> kept() throws Exception {
        return schema.list(String.class, "SELECT who || ' ' || what FROM rowlock_operation ORDER BY id");
    }
}
