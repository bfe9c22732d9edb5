package io.rowlock.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.fixture.Watched;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Job;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a duplicate, by its mode, alone and in batches. */
@PostgresTest
final class DedupModesIT {
    private static final Duration HOUR = Duration.ofHours(1);

    @Kind("mail")
    private record Mail(int no) {}

    @Kind("sms")
    private record Sms(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;
    private Outbox outbox;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        outbox = rowlock.rowlock().outbox();
        schema.execute("DROP TABLE IF EXISTS orders; CREATE TABLE orders (id bigint PRIMARY KEY)");
    }

    private static Consumer<JobOptions> key(String key, DedupMode mode) {
        return options -> options.dedupKey(key, mode);
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B40")
    @Tag("P15")
    void a_duplicate_in_the_middle_of_a_business_transaction_is_an_answer(DedupMode mode) throws Exception {
        long first = rowlock.enqueue(new Mail(1), key("a", mode)).id();

        Enqueued second;
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            second = outbox.enqueue(connection, new Mail(2), key("a", mode));
            order(connection, 2);
            connection.commit();
        }

        assertThat(second.duplicate()).isTrue();
        assertThat(second.id()).isEqualTo(first);
        assertThat(schema.count("SELECT count(*) FROM orders")).isEqualTo(2);
        assertThat(jobs()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B40")
    void of_a_batch_of_a_hundred_with_one_duplicate_99_are_new(DedupMode mode) throws Exception {
        Enqueued there = rowlock.enqueue(new Mail(-1), key("key-50", mode));
        List<JobRequest<?>> requests = IntStream.range(0, 100)
                .<JobRequest<?>>mapToObj(no -> JobRequest.of(new Mail(no), key("key-" + no, mode)))
                .toList();

        List<Enqueued> answers = rowlock.commit(connection -> outbox.enqueueAll(connection, requests));

        assertThat(answers).hasSize(100).filteredOn(Enqueued::duplicate).hasSize(1);
        assertThat(answers.get(50).duplicate()).isTrue();
        assertThat(answers.get(50).id()).isEqualTo(there.id());
        assertThat(jobs()).isEqualTo(100);
    }

    @Test
    void another_kind_another_key_or_no_key_is_no_duplicate() throws Exception {
        for (Enqueued answer : List.of(
                rowlock.enqueue(new Mail(1), o -> o.dedupKey("a")),
                rowlock.enqueue(new Sms(1), o -> o.dedupKey("a")),
                rowlock.enqueue(new Mail(1), o -> o.dedupKey("b")),
                rowlock.enqueue(new Mail(1)))) {
            assertThat(answer.duplicate()).isFalse();
        }
        assertThat(jobs()).isEqualTo(4);
    }

    @Test
    void keep_leaves_the_waiting_job_as_it_is_and_answers_where_it_stands() throws Exception {
        Enqueued first = rowlock.enqueue(
                new Mail(1),
                o -> o.dedupKey("a")
                        .queue("q")
                        .priority(Priority.LOW)
                        .after(HOUR)
                        .orderingKey("o"));

        Enqueued second = rowlock.enqueue(
                new Mail(2), o -> o.dedupKey("a").priority(Priority.HIGH).subject("Order:2"));

        assertThat(second)
                .isEqualTo(new Enqueued(first.id(), "mail", "q", Priority.LOW, first.runAt(), true, true))
                .isNotEqualTo(first);
        Job job = rowlock.job(first.id());
        assertThat(rowlock.content(job.id()).payload()).isEqualTo("{\"no\":1}");
        assertThat(job.subject()).isNull();
    }

    @Test
    void replace_changes_payload_headers_and_subject_and_nothing_else() throws Exception {
        Enqueued first = rowlock.enqueue(
                new Mail(1),
                o -> o.dedupKey("a")
                        .after(HOUR)
                        .subject("Order:1")
                        .header("h", "1")
                        .maxAttempts(7));

        Enqueued second = rowlock.enqueue(
                new Mail(2),
                o -> o.dedupKey("a", DedupMode.REPLACE)
                        .queue("q")
                        .maxAttempts(2)
                        .priority(Priority.HIGH));

        assertThat(second)
                .isEqualTo(new Enqueued(first.id(), "mail", "default", Priority.NORMAL, first.runAt(), false, true));
        Job job = rowlock.job(first.id());
        assertThat(rowlock.content(job.id()).payload()).isEqualTo("{\"no\":2}");
        assertThat(rowlock.content(job.id()).headers()).isEmpty();
        assertThat(job.subject()).isNull();
        assertThat(job.queue()).isEqualTo("default");
        assertThat(job.progress().runAt()).isEqualTo(first.runAt());
        assertThat(job.progress().maxAttempts()).isEqualTo(7);
    }

    @Test
    void push_back_moves_the_time_and_only_to_later() throws Exception {
        Enqueued first = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a").after(Duration.ofMinutes(1)));
        Instant far = Instant.parse("2999-01-01T00:00:00Z");

        Enqueued later = rowlock.enqueue(
                new Mail(2), o -> o.dedupKey("a", DedupMode.PUSH_BACK).after(HOUR));
        Enqueued sooner = rowlock.enqueue(new Mail(3), key("a", DedupMode.PUSH_BACK));
        Enqueued latest = rowlock.enqueue(
                new Mail(4), o -> o.dedupKey("a", DedupMode.PUSH_BACK).at(far));

        assertThat(later.runAt()).isAfter(first.runAt().plus(Duration.ofMinutes(50)));
        assertThat(sooner.runAt()).isEqualTo(later.runAt());
        assertThat(latest.runAt()).isEqualTo(far);
        assertThat(rowlock.job(first.id()).progress().runAt()).isEqualTo(far);
        assertThat(rowlock.content(first.id()).payload()).isEqualTo("{\"no\":1}");
    }

    @Test
    void a_job_that_is_due_already_is_pushed_to_now() throws Exception {
        long id = rowlock.enqueue(new Mail(1), key("a", DedupMode.PUSH_BACK)).id();
        schema.execute("UPDATE rowlock_job SET run_at = clock_timestamp() - interval '1 hour'");
        long before = schema.count("SELECT extract(epoch FROM clock_timestamp())::bigint");

        rowlock.enqueue(new Mail(1), key("a", DedupMode.PUSH_BACK));

        assertThat(rowlock.job(id).progress().runAt().getEpochSecond()).isGreaterThanOrEqualTo(before - 1);
    }

    @Test
    void requests_of_one_call_with_one_key_act_one_after_the_other() throws Exception {
        List<JobRequest<?>> requests = List.of(
                JobRequest.of(new Mail(1), o -> o.dedupKey("a").header("h", "1")),
                JobRequest.of(new Mail(2), key("a", DedupMode.REPLACE)),
                JobRequest.of(new Sms(3)),
                JobRequest.of(new Mail(4), key("a", DedupMode.KEEP)),
                JobRequest.of(
                        new Mail(5), o -> o.dedupKey("a", DedupMode.PUSH_BACK).after(HOUR)));

        List<Enqueued> fresh = rowlock.commit(connection -> outbox.enqueueAll(connection, requests));
        List<Enqueued> again = rowlock.commit(connection -> outbox.enqueueAll(connection, requests));

        assertThat(fresh).extracting(Enqueued::duplicate).containsExactly(false, true, false, true, true);
        assertThat(again).extracting(Enqueued::duplicate).containsExactly(true, true, false, true, true);
        long id = fresh.get(0).id();
        for (List<Enqueued> answers : List.of(fresh, again)) {
            assertThat(List.of(answers.get(0), answers.get(1), answers.get(3), answers.get(4)))
                    .extracting(Enqueued::id)
                    .containsOnly(id);
        }
        assertThat(rowlock.content(id).payload()).isEqualTo("{\"no\":2}");
        assertThat(rowlock.content(id).headers()).isEmpty();
        assertThat(fresh.get(4).runAt()).isAfter(fresh.get(2).runAt().plus(Duration.ofMinutes(50)));
        assertThat(jobs()).isEqualTo(3);
    }

    @Test
    void a_waiting_job_and_one_written_once_do_not_see_each_other() throws Exception {
        List<JobRequest<?>> requests = List.of(
                JobRequest.of(new Mail(1), key("a", DedupMode.ONCE)),
                JobRequest.of(new Mail(2), key("a", DedupMode.KEEP)),
                JobRequest.of(new Mail(3), key("a", DedupMode.ONCE)));

        List<Enqueued> answers = rowlock.commit(connection -> outbox.enqueueAll(connection, requests));

        assertThat(answers).extracting(Enqueued::duplicate).containsExactly(false, false, true);
        assertThat(jobs()).isEqualTo(2);
    }

    @Test
    @Tag("B46")
    void ids_rise_in_the_order_of_the_requests_whatever_their_keys() throws Exception {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 50; no++) {
            String key = "key-" + (50 - no);
            DedupMode mode = List.of(DedupMode.values()).get(no % 4);
            requests.add(no % 5 == 0 ? JobRequest.of(new Mail(no)) : JobRequest.of(new Mail(no), key(key, mode)));
        }

        List<Enqueued> answers = rowlock.commit(connection -> outbox.enqueueAll(connection, requests));

        assertThat(answers).extracting(Enqueued::id).isSorted().doesNotHaveDuplicates();
        assertThat(schema.list(Integer.class, "SELECT (payload->>'no')::int FROM rowlock_job ORDER BY id"))
                .isEqualTo(IntStream.range(0, 50).boxed().toList());
    }

    @Test
    @Tag("P14")
    void a_hundred_thousand_jobs_in_one_call_go_in_bounded_statements_and_in_order() throws Exception {
        List<Enqueued> answers;
        int statements;
        try (Connection connection = schema.begin()) {
            Watched watched = Watched.over(connection);
            answers = outbox.enqueueAll(watched.connection(), hundredThousand(false));
            statements = watched.statements().size();
            connection.commit();
        }

        assertThat(statements).isEqualTo(100);
        assertThat(answers).hasSize(100_000).extracting(Enqueued::id).isSorted();
        assertThat(inOrder()).isEqualTo(100_000);
    }

    @Test
    @Tag("P14")
    void so_do_a_hundred_thousand_with_duplicates_across_statements() throws Exception {
        List<Enqueued> answers;
        int statements;
        try (Connection connection = schema.begin()) {
            Watched watched = Watched.over(connection);
            answers = outbox.enqueueAll(watched.connection(), hundredThousand(true));
            statements = watched.statements().size();
            connection.commit();
        }

        assertThat(statements).as("5 to draw 50,000 ids, 50 to insert").isEqualTo(55);
        assertThat(answers).hasSize(100_000);
        assertThat(answers.subList(0, 50_000)).noneMatch(Enqueued::duplicate);
        assertThat(answers.subList(50_000, 100_000)).allMatch(Enqueued::duplicate);
        assertThat(IntStream.range(0, 50_000)
                        .allMatch(i ->
                                answers.get(i).id() == answers.get(i + 50_000).id()))
                .isTrue();
        assertThat(answers.subList(0, 50_000)).extracting(Enqueued::id).isSorted();
        assertThat(inOrder()).isEqualTo(50_000);
    }

    private static List<JobRequest<?>> hundredThousand(boolean keys) {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 100_000; no++) {
            String key = "key-" + (no % 50_000);
            requests.add(keys ? JobRequest.of(new Mail(no), o -> o.dedupKey(key)) : JobRequest.of(new Mail(no)));
        }
        return requests;
    }

    /** How many rows there are whose place by id is their number. */
    private long inOrder() throws Exception {
        return schema.count(
                "SELECT count(*) FROM (SELECT (payload->>'no')::int AS no, row_number() OVER (ORDER BY id) AS n"
                        + " FROM rowlock_job) j WHERE no + 1 = n");
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @Tag("P15")
    @Tag("B47")
    void above_read_committed_a_key_is_refused_by_no_error_of_the_server(int isolation) throws Exception {
        rowlock.enqueue(new Mail(0), o -> o.dedupKey("a"));
        try (Connection connection = schema.connect()) {
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(false);
            order(connection, 1);
            rowlock.enqueue(new Mail(0), o -> o.dedupKey("b"));

            for (List<JobRequest<?>> requests : List.<List<JobRequest<?>>>of(
                    List.of(JobRequest.of(new Mail(1), key("a", DedupMode.REPLACE))),
                    List.of(JobRequest.of(new Mail(1), o -> o.dedupKey("b"))),
                    List.of(JobRequest.of(new Mail(1)), JobRequest.of(new Mail(1), o -> o.dedupKey("c"))))) {
                assertThatThrownBy(() -> outbox.enqueueAll(connection, requests))
                        .isInstanceOf(InvalidUseException.class)
                        .hasMessageContaining("READ COMMITTED transaction only, this one is ");
            }

            assertThat(outbox.enqueue(connection, new Sms(1)).duplicate()).isFalse();
            order(connection, 2);
            connection.commit();
        }
        assertThat(schema.count("SELECT count(*) FROM orders")).isEqualTo(2);
        assertThat(jobs()).isEqualTo(3);
    }

    @Test
    void a_key_costs_one_statement_when_it_is_free_and_two_when_it_is_taken() throws Exception {
        try (Connection connection = schema.begin()) {
            for (DedupMode mode : DedupMode.values()) {
                Watched free = Watched.over(connection);
                outbox.enqueue(free.connection(), new Mail(1), key(mode.text(), mode));
                Watched taken = Watched.over(connection);
                outbox.enqueue(taken.connection(), new Mail(2), key(mode.text(), mode));

                assertThat(free.statements()).hasSize(1);
                assertThat(taken.statements()).hasSize(2);
            }
            Watched none = Watched.over(connection);
            outbox.enqueue(none.connection(), new Mail(3));
            assertThat(none.statements()).singleElement().asString().startsWith("/* rowlock:enqueue */");
        }
    }

    @Test
    void a_duplicates_answer_wakes_a_worker_like_any_other() throws Exception {
        Enqueued first = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a").after(HOUR));
        Enqueued second = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a"));

        rowlock.rowlock().wake(List.of(first, second));

        try (var worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            rowlock.rowlock().wake(List.of(second));
            long due = rowlock.enqueue(new Mail(2), o -> o.dedupKey("b")).id();
            rowlock.awaitState(due, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.state(first.id())).isEqualTo(JobState.READY);
    }

    private void order(Connection connection, int id) throws Exception {
        try (var insert = connection.prepareStatement("INSERT INTO orders VALUES (?)")) {
            insert.setInt(1, id);
            insert.executeUpdate();
        }
    }

    private long jobs() throws Exception {
        return schema.count("SELECT count(*) FROM rowlock_job");
    }
}
