package io.rowlock.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.Job;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a worker does not know it neither claims, rescues, prunes nor reads; what it cannot read hurts nobody else. */
@PostgresTest
class ForeignKindIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Kind("known")
    record Known(int n) {}

    enum Colour {
        RED
    }

    @Kind("painted")
    record Painted(int n, Colour colour) {}

    /** What a row with a class name in it must never set off. */
    public static final class Gadget {
        static final AtomicBoolean LOADED = new AtomicBoolean();

        public void setCommand(String command) {
            LOADED.set(true);
        }
    }

    private final TestSchema schema;
    private final Rowlock rowlock;

    ForeignKindIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @BeforeEach
    void empty() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
    }

    private void insert(String kind, String payload, String more) throws SQLException {
        try (Connection connection = schema.begin();
                var insert =
                        connection.prepareStatement("INSERT INTO rowlock_job (kind, payload) VALUES (?, ?::json)")) {
            insert.setString(1, kind);
            insert.setString(2, payload);
            insert.executeUpdate();
            if (!more.isEmpty()) {
                connection
                        .createStatement()
                        .execute("UPDATE rowlock_job SET " + more + " WHERE xmin::text = pg_current_xact_id()::text");
            }
            connection.commit();
        }
    }

    private <T> Worker worker(Class<T> type, JobHandler<T> handler) {
        return rowlock.worker(w -> w.poll(Duration.ofMillis(50))
                .lease(Duration.ofSeconds(1))
                .keepCompleted(Duration.ofDays(1))
                .handle(
                        type,
                        handler,
                        h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(20)).maxAttempts(2))));
    }

    @Test
    @Tag("P12")
    @Tag("B18")
    void rows_of_foreign_kinds_stay_exactly_as_they_are() throws SQLException {
        insert("foreign", "{}", "");
        insert(
                "foreign",
                "{}",
                "locked_by = 'gone', locked_until = clock_timestamp() - interval '1 hour', attempts = 99");
        insert("foreign", "{}", "losses = 3");
        insert("foreign", "{}", "state = 'completed', finished_at = clock_timestamp() - interval '9 days'");
        insert("foreign", "{}", "state = 'dead', finished_at = clock_timestamp() - interval '9 days'");
        String all = "SELECT j::text FROM rowlock_job j WHERE kind = 'foreign' ORDER BY id";
        List<String> before = schema.list(String.class, all);
        Set<Integer> seen = new ConcurrentSkipListSet<>();
        try (Worker worker = worker(Known.class, (known, job) -> seen.add(known.n()))) {
            worker.start();
            for (int n = 0; n < 100; n++) {
                insert("known", "{\"n\":" + n + "}", "");
            }
            insert("known", "{\"n\":100}", "locked_by = 'gone', locked_until = clock_timestamp() - interval '1 hour'");
            await().atMost(LONG).until(() -> seen.size() == 101);
        }
        assertThat(schema.list(String.class, all)).isEqualTo(before);
    }

    @Test
    @Tag("P13")
    @Tag("B30")
    void no_class_named_in_a_row_is_ever_loaded() throws SQLException {
        String gadget = Gadget.class.getName();
        insert(gadget, "{\"command\":\"x\"}", "");
        insert("known", "{\"n\":1,\"@class\":\"" + gadget + "\",\"@type\":\"" + gadget + "\",\"command\":\"x\"}", "");
        insert("known", "[\"" + gadget + "\",{\"command\":\"x\"}]", "");
        insert("known", "\"rO0ABXNyAA==\"", "");
        Set<Integer> seen = new TreeSet<>();
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(
                Known.class,
                (known, job) -> seen.add(known.n()),
                h -> h.retry(RetryPolicy.standard().maxAttempts(1))))) {
            worker.drain();
        }
        assertThat(Gadget.LOADED).isFalse();
        assertThat(seen).containsExactly(1);
        assertThat(rowlock.jobs().ofKind(gadget)).singleElement().satisfies(job -> {
            assertThat(job.state()).isEqualTo(JobState.READY);
            assertThat(job.progress().attempts()).isZero();
        });
        assertThat(rowlock.jobs().counts()).containsEntry(JobState.DEAD, 2L);
    }

    @Test
    @Tag("P10")
    @Tag("B39")
    void a_payload_that_cannot_be_read_fails_its_own_job_only() throws SQLException {
        insert("painted", "{\"n\":\"seven\"}", "");
        insert("painted", "{\"n\":1,\"colour\":\"MAUVE\"}", "");
        insert("painted", "[1,2,3]", "");
        insert("painted", "null", "");
        insert("painted", "{\"n\":1,\"colour\":\"" + "x".repeat(200_000) + "\"}", "");
        for (int n = 0; n < 100; n++) {
            insert("painted", "{\"n\":" + n + ",\"colour\":\"RED\",\"added later\":true}", "");
        }
        Set<Integer> seen = new ConcurrentSkipListSet<>();
        try (Worker worker = worker(Painted.class, (painted, job) -> seen.add(painted.n()))) {
            worker.start();
            await().atMost(LONG).until(() -> rowlock.jobs().counts().get(JobState.READY) == 0);
        }
        assertThat(seen).hasSize(100);
        assertThat(rowlock.jobs().counts())
                .containsEntry(JobState.COMPLETED, 100L)
                .containsEntry(JobState.DEAD, 5L);
        for (Job job : rowlock.jobs().ofKind("painted")) {
            if (job.state() == JobState.DEAD) {
                assertThat(job.progress().attempts()).isEqualTo(2);
                assertThat(job.progress().lastError()).isNotBlank();
                assertThat(rowlock.jobs().failures(job.id())).hasSize(2);
            }
        }
        assertThat(schema.count("SELECT sum(n)::bigint FROM rowlock_alert WHERE kind = 'painted'"))
                .isEqualTo(5);
    }

    @Test
    @Tag("B17")
    void pruning_takes_old_completed_and_cancelled_rows_of_known_kinds_and_nothing_else() throws Exception {
        String old = "finished_at = clock_timestamp() - interval '2 days'";
        insert("known", "{\"n\":1}", "state = 'completed', " + old);
        insert("known", "{\"n\":2}", "state = 'completed', finished_at = clock_timestamp()");
        insert("known", "{\"n\":3}", "state = 'dead', " + old);
        insert("known", "{\"n\":4}", "state = 'cancelled', " + old);
        insert("known", "{\"n\":5}", "run_at = clock_timestamp() + interval '1 day'");
        insert(
                "known",
                "{\"n\":6}",
                "run_at = clock_timestamp() + interval '1 day', created_at = clock_timestamp() - interval '1 year'");
        insert("foreign", "{\"n\":7}", "state = 'completed', " + old);
        insert("known", "{\"n\":8}", "state = 'completed', " + old);
        try (Connection reviving = schema.begin()) {
            reviving.createStatement()
                    .execute(
                            "UPDATE rowlock_job SET state = 'ready', finished_at = NULL, run_at = clock_timestamp() + interval"
                                    + " '1 day' WHERE payload::text = '{\"n\":8}'");
            try (Worker worker = worker(Known.class, (known, job) -> {})) {
                worker.start();
                await().atMost(LONG)
                        .until(() -> schema.count(
                                        "SELECT count(*) FROM rowlock_job WHERE payload::text IN ('{\"n\":1}', '{\"n\":4}')")
                                == 0);
                reviving.commit();
            }
        }
        assertThat(schema.list(Integer.class, "SELECT (payload->>'n')::int FROM rowlock_job ORDER BY 1"))
                .containsExactly(2, 3, 5, 6, 7, 8);
    }
}
