package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that somebody's SQL wrote or changed. */
@PostgresTest
@Tag("P10")
final class BadRowsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void a_row_due_since_minus_infinity_runs_and_stops_no_other() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, run_at) VALUES ('mail', '{\"no\":1}', '-infinity'),"
                + " ('mail', '{\"no\":2}', 'infinity'), ('mail', '{\"no\":3}', '0044-03-15 12:00 BC')");
        Set<Integer> ran = ConcurrentHashMap.newKeySet();

        try (Worker worker =
                rowlock.work(w -> w.queue("default", 1).handle(Mail.class, (mail, job) -> ran.add(mail.no())))) {
            TestRowlock.soon().until(() -> ran.contains(1) && ran.contains(3));
            rowlock.enqueue(new Mail(4));
            TestRowlock.soon().until(() -> ran.contains(4));
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(ran).containsExactlyInAnyOrder(1, 3, 4);
    }

    @Test
    @Tag("B39")
    void a_payload_over_the_parsers_limit_fails_its_own_job_and_no_other() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload)"
                + " SELECT 'mail', ('{\"no\":\"' || repeat('7', 20000001) || '\"}')::json");
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload) SELECT 'mail', (repeat('[', 1500) || repeat(']', 1500))::json");
        rowlock.enqueueAll(IntStream.range(0, 100).mapToObj(Mail::new).toList());

        try (Worker worker = rowlock.work(w -> w.handle(
                Mail.class,
                (mail, job) -> {},
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2))))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(100);
        assertThat(schema.list(String.class, "SELECT last_error FROM rowlock_job WHERE state = 'dead' ORDER BY id"))
                .satisfiesExactly(
                        tooLong -> assertThat(tooLong).contains("exceeds the maximum allowed"),
                        tooDeep -> assertThat(tooDeep).contains("Cannot deserialize value of type"));
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ordering_key|''", "token|9223372036854775807", "attempts|2147483647", "losses|2147483647"})
    @Tag("P10")
    void a_row_that_no_worker_could_claim_is_refused_to_who_writes_it(String bad) {
        String[] column = bad.split("\\|", -1);
        assertThatThrownBy(() -> schema.execute("INSERT INTO rowlock_job (kind, payload, " + column[0]
                        + ") VALUES ('mail', '{\"no\":0}', " + column[1] + ")"))
                .hasMessageContaining("rowlock_job_bounds");
    }

    @Test
    @Tag("P10")
    void a_row_from_before_with_an_empty_ordering_key_stops_no_other() throws Exception {
        schema.execute("ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_bounds");
        Set<Integer> ran = ConcurrentHashMap.newKeySet();
        schema.execute("INSERT INTO rowlock_job (kind, payload, ordering_key) VALUES ('mail', '{\"no\":0}', '')");
        schema.execute("ALTER TABLE rowlock_job ADD CONSTRAINT rowlock_job_bounds CHECK (attempts < 2147483647"
                + " AND losses < 2147483647 AND token < 9223372036854775807 AND ordering_key <> '') NOT VALID");
        try (Worker worker =
                rowlock.work(w -> w.queue("default", 2).handle(Mail.class, (mail, job) -> ran.add(mail.no())))) {
            rowlock.enqueue(new Mail(1));
            rowlock.enqueue(new Mail(2), options -> options.orderingKey("a"));
            rowlock.enqueue(new Mail(3), options -> options.limitKey("a"));

            TestRowlock.soon()
                    .until(() -> ran.equals(Set.of(1, 2, 3)) && worker.health().running() == 0);
        }
    }

    @Test
    void headers_that_are_no_object_of_texts_are_read_as_well_as_they_can_be() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, headers) VALUES ('mail', '{\"no\":1}', '[1,2]'),"
                        + " ('mail', '{\"no\":2}', '{\"n\":7,\"b\":true}'), ('mail', '{\"no\":3}', 'null'), ('mail', '{\"no\":4}', '\"x\"')");
        Map<Integer, Map<String, String>> seen = new ConcurrentHashMap<>();

        try (Worker worker =
                rowlock.work(w -> w.handle(Mail.class, (mail, job) -> seen.put(mail.no(), job.headers())))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(seen).isEqualTo(Map.of(1, Map.of(), 2, Map.of("n", "7", "b", "true"), 3, Map.of(), 4, Map.of()));
        assertThat(rowlock.rowlock().jobs().ofKind("mail")).hasSize(4);
    }

    @Test
    void a_row_that_vanishes_or_changes_hands_while_its_handler_runs_stops_no_other() throws Exception {
        List<Long> ids = rowlock
                .enqueueAll(IntStream.range(0, 40).mapToObj(Mail::new).toList())
                .stream()
                .map(job -> job.id())
                .toList();

        try (Worker worker = rowlock.work(w -> w.queue("default", 4)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            if (mail.no() % 4 == 0) {
                                schema.execute("DELETE FROM rowlock_job WHERE id = " + job.id());
                            } else if (mail.no() % 4 == 1) {
                                schema.execute(
                                        "UPDATE rowlock_job SET state = 'cancelled', finished_at = clock_timestamp(),"
                                                + " token = token + 1, locked_by = NULL, locked_until = NULL WHERE id = "
                                                + job.id());
                            } else if (mail.no() % 4 == 2) {
                                throw new IllegalStateException("as always");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(1))))) {
            rowlock.awaitAllEnded();
            TestRowlock.soon().until(() -> worker.health().unrecorded() == 0);
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(rowlock.count(JobState.CANCELLED)).isEqualTo(10);
        assertThat(rowlock.count(JobState.DEAD)).isEqualTo(10);
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(10);
        assertThat(schema.list(Long.class, "SELECT id FROM rowlock_job"))
                .hasSize(30)
                .isSubsetOf(ids);
    }

    @Test
    @Tag("B17")
    void a_retention_of_zero_prunes_completed_rows_and_old_cancelled_ones_only_even_while_a_slow_handler_runs()
            throws Exception {
        long slow = rowlock.enqueue(new Mail(1)).id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at, run_at)"
                        + " SELECT 'mail', '{\"no\":0}', s, CASE WHEN s IN ('completed', 'dead', 'cancelled')"
                        + " THEN clock_timestamp() - n * interval '1 day' END, clock_timestamp() + interval '1 day'"
                        + " FROM unnest(ARRAY['ready', 'parked', 'completed', 'dead', 'cancelled']) s, generate_series(0, 400) n");

        try (Worker worker = rowlock.work(w -> w.keepCompleted(Duration.ZERO).handle(Mail.class, (mail, job) -> {
            begun.countDown();
            end.await();
        }))) {
            begun.await();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE state = 'completed'"
                    + " OR (state = 'cancelled' AND finished_at < clock_timestamp() - interval '24 hours')");
            assertThat(rowlock.job(slow).lease().owner()).isEqualTo(worker.id());
            end.countDown();
            TestRowlock.soon().until(() -> rowlock.rowlock().jobs().find(slow).isEmpty());
        }

        assertThat(schema.rows("SELECT state, count(*) AS n FROM rowlock_job GROUP BY state ORDER BY state"))
                .extracting(row -> row.get("state") + " " + row.get("n"))
                .containsExactly("cancelled 1", "dead 401", "parked 401", "ready 401");
    }
}
