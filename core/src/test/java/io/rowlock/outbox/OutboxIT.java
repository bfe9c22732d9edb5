package io.rowlock.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.fixture.Watched;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Job;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@PostgresTest
final class OutboxIT {
    @Kind("mail")
    private record Mail(int no, String text) {
        Mail(int no) {
            this(no, "");
        }
    }

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

    @Test
    @Tag("P1")
    @Tag("B04")
    void job_and_business_row_commit_together_under_one_transaction_id() throws Exception {
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            outbox.enqueue(connection, new Mail(1));
            assertThat(jobs()).as("before the commit").isZero();
            connection.commit();
        }

        assertThat(schema.count("SELECT count(*) FROM orders o JOIN rowlock_job j ON j.xmin::text = o.xmin::text"))
                .isEqualTo(1);
    }

    @Test
    @Tag("P1")
    @Tag("B04")
    void a_rollback_removes_both() throws Exception {
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            outbox.enqueue(connection, new Mail(1));
            connection.rollback();
        }

        assertThat(jobs()).isZero();
        assertThat(orders()).isZero();
    }

    @Test
    @Tag("P1")
    @Tag("B26")
    void jobs_follow_savepoints() throws Exception {
        try (Connection connection = schema.begin()) {
            outbox.enqueue(connection, new Mail(1));
            Savepoint payment = connection.setSavepoint();
            order(connection, 1);
            outbox.enqueue(connection, new Mail(2));
            connection.rollback(payment);
            outbox.enqueue(connection, new Mail(3));
            connection.commit();
        }

        assertThat(schema.list(Integer.class, "SELECT (payload->>'no')::int FROM rowlock_job ORDER BY id"))
                .containsExactly(1, 3);
        assertThat(orders()).isZero();
    }

    @Test
    @Tag("B03")
    @Tag("B04")
    void an_enqueue_after_the_commit_fails_loudly_once_autocommit_is_back() throws Exception {
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            connection.commit();
            connection.setAutoCommit(true);

            assertThatThrownBy(() -> outbox.enqueue(connection, new Mail(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("without a transaction")
                    .hasMessageContaining("setAutoCommit(false)");
            order(connection, 2);
        }

        assertThat(jobs()).isZero();
        assertThat(orders()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALTER TABLE rowlock_job RENAME TO gone | ALTER TABLE gone RENAME TO rowlock_job | 42P01",
                "ALTER TABLE rowlock_job ADD CONSTRAINT no_mail CHECK (kind <> 'mail')"
                        + " | ALTER TABLE rowlock_job DROP CONSTRAINT no_mail | 23514"
            })
    @Tag("B04")
    void a_job_that_cannot_be_inserted_fails_the_business_transaction(String broken, String mended, String state)
            throws Exception {
        schema.execute(broken);
        try (Connection connection = schema.begin()) {
            order(connection, 1);

            assertThatThrownBy(() -> outbox.enqueue(connection, new Mail(1)))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.sqlState()).isEqualTo(state))
                    .hasMessageContaining("roll the transaction back (jobs=1)");
            assertThatThrownBy(() -> order(connection, 2))
                    .as("nothing more can be written")
                    .isInstanceOf(SQLException.class);
            connection.commit();
        } finally {
            schema.execute(mended);
        }
        assertThat(orders()).isZero();
        assertThat(jobs()).isZero();
    }

    @Test
    @Tag("P1")
    @Tag("B46")
    void two_and_a_half_thousand_jobs_keep_their_order_with_rising_ids_in_three_statements() throws Exception {
        List<JobRequest<Mail>> requests = new ArrayList<>();
        for (int i = 0; i < 2_500; i++) {
            int no = i;
            requests.add(JobRequest.of(new Mail(i), o -> o.queue("q" + no % 7).subject("Order:" + no)));
        }
        List<Enqueued> written;
        List<String> statements;
        try (Connection connection = schema.begin()) {
            Watched watched = Watched.over(connection);
            written = outbox.enqueueAll(watched.connection(), requests);
            statements = watched.statements();
            connection.commit();
        }

        assertThat(statements).hasSize(3);
        assertThat(written)
                .extracting(Enqueued::id)
                .isSorted()
                .doesNotHaveDuplicates()
                .hasSize(2_500);
        assertThat(schema.list(Integer.class, "SELECT (payload->>'no')::int FROM rowlock_job ORDER BY id"))
                .isSorted()
                .hasSize(2_500);
        assertThat(schema.list(Long.class, "SELECT id FROM rowlock_job ORDER BY (payload->>'no')::int"))
                .isEqualTo(written.stream().map(Enqueued::id).toList());
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE subject <> 'Order:' || (payload->>'no')"
                        + " OR queue <> 'q' || (payload->>'no')::int % 7"))
                .isZero();
    }

    @Test
    @Tag("P14")
    void a_batch_of_big_payloads_goes_in_statements_of_8_mebibytes() throws Exception {
        List<JobRequest<Mail>> requests = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            requests.add(JobRequest.of(new Mail(i, "x".repeat(1_900_000))));
        }
        List<String> statements;
        try (Connection connection = schema.begin()) {
            Watched watched = Watched.over(connection);
            outbox.enqueueAll(watched.connection(), requests);
            statements = watched.statements();
            connection.commit();
        }

        assertThat(statements).as("four of 1.9 MB each in 8 MiB").hasSize(3);
        assertThat(schema.list(Integer.class, "SELECT (payload->>'no')::int FROM rowlock_job ORDER BY id"))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        assertThat(schema.count("SELECT min(length(payload->>'text'))::bigint FROM rowlock_job"))
                .isEqualTo(1_900_000);
    }

    @Test
    void no_jobs_need_no_statement() throws Exception {
        try (Connection connection = schema.begin()) {
            Watched watched = Watched.over(connection);
            assertThat(outbox.enqueueAll(watched.connection(), List.of())).isEmpty();
            assertThat(watched.statements()).isEmpty();
        }
    }

    @Test
    void what_was_said_of_a_job_stands_in_its_row_and_in_the_answer() throws Exception {
        Enqueued answer = rowlock.enqueue(
                new Mail(7),
                o -> o.queue("mails")
                        .priority(Priority.HIGH)
                        .subject("Order:42")
                        .maxAttempts(3)
                        .header("tenant", "north")
                        .header("note", "quote \" and \u00e4 and \uD83D\uDE00"));

        Job job = rowlock.job(answer.id());
        assertThat(answer.queue()).isEqualTo("mails");
        assertThat(answer.kind()).isEqualTo("mail");
        assertThat(answer.priority()).isEqualTo(Priority.HIGH);
        assertThat(answer.runAt()).isEqualTo(job.progress().runAt());
        assertThat(job.state()).isEqualTo(JobState.READY);
        assertThat(job.kind()).isEqualTo("mail");
        assertThat(job.queue()).isEqualTo("mails");
        assertThat(job.subject()).isEqualTo("Order:42");
        assertThat(rowlock.content(job.id()).payload()).isEqualTo("{\"no\":7,\"text\":\"\"}");
        assertThat(rowlock.content(job.id()).headers())
                .containsExactly(
                        Map.entry("tenant", "north"), Map.entry("note", "quote \" and \u00e4 and \uD83D\uDE00"));
        assertThat(job.progress().priority()).isEqualTo(Priority.HIGH);
        assertThat(job.progress().maxAttempts()).isEqualTo(3);
        assertThat(job.progress().attempts()).isZero();
        assertThat(job.lease().owner()).isNull();
    }

    @Test
    void a_job_of_which_nothing_is_said_has_the_documented_defaults() throws Exception {
        Job job = rowlock.job(rowlock.enqueue(new Mail(1)).id());

        assertThat(job.queue()).isEqualTo("default");
        assertThat(job.progress().priority()).isEqualTo(Priority.NORMAL);
        assertThat(job.subject()).isNull();
        assertThat(rowlock.content(job.id()).headers()).isEmpty();
        assertThat(job.progress().maxAttempts()).isNull();
    }

    @Test
    void a_kind_given_by_hand_needs_no_annotation() throws Exception {
        Enqueued written = rowlock.commit(connection ->
                outbox.enqueue(connection, JobKind.named("plain-text", String.class), "hello", o -> o.subject("x")));

        assertThat(rowlock.content(written.id()).payload()).isEqualTo("\"hello\"");
        assertThat(rowlock.job(written.id()).kind()).isEqualTo("plain-text");
    }

    @Test
    @Tag("P7")
    void a_delay_counts_from_the_writing_of_the_row_by_the_databases_clock() throws Exception {
        Instant before = now();
        Instant due = rowlock.enqueue(new Mail(1), o -> o.after(Duration.ofMinutes(5)))
                .runAt();
        Instant after = now();

        assertThat(due).isBetween(before.plus(Duration.ofMinutes(5)), after.plus(Duration.ofMinutes(5)));
    }

    @Test
    @Tag("P7")
    void a_job_written_late_in_a_long_transaction_is_not_due_before_it_was_written() throws Exception {
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            Instant meanwhile = now();
            assertThat(outbox.enqueue(connection, new Mail(1)).runAt()).isAfterOrEqualTo(meanwhile);
            connection.commit();
        }
    }

    @Test
    void a_future_instant_is_kept_to_the_microsecond_in_any_session_time_zone() throws Exception {
        Instant at = Instant.parse("2031-10-26T01:30:00.123456Z");
        try (Connection connection = schema.begin()) {
            connection.createStatement().execute("SET TIME ZONE 'America/New_York'");
            assertThat(outbox.enqueue(connection, new Mail(1), o -> o.at(at)).runAt())
                    .isEqualTo(at);
            connection.commit();
        }

        assertThat(schema.one(Instant.class, "SELECT run_at FROM rowlock_job")).contains(at);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2020-01-01T00:00:00Z",
                "1970-01-01T00:00:00Z",
                "0000-12-31T23:59:59Z",
                "-0043-03-15T00:00:00Z",
                "-9999-01-01T00:00:00Z",
                "-1000000000-01-01T00:00:00Z"
            })
    @Tag("P2")
    @Tag("P15")
    void a_past_instant_however_old_means_now(String past) throws Exception {
        Instant before = now();
        Instant due =
                rowlock.enqueue(new Mail(1), o -> o.at(Instant.parse(past))).runAt();

        assertThat(due).isBetween(before, now());
    }

    @Test
    void look_ups_see_the_callers_own_transaction_when_asked_in_it() throws Exception {
        try (Connection connection = schema.begin()) {
            long id = outbox.enqueue(connection, new Mail(1), o -> o.subject("Order:9"))
                    .id();

            assertThat(rowlock.rowlock().jobs().find(id)).isEmpty();
            assertThat(rowlock.rowlock().jobs().in(connection).find(id)).isPresent();
            assertThat(rowlock.rowlock().jobs().in(connection).ofSubject("Order:9"))
                    .hasSize(1);
            assertThat(rowlock.rowlock().jobs().in(connection).ofKind("mail")).hasSize(1);
            assertThat(rowlock.rowlock().jobs().in(connection).counts()).containsEntry(JobState.READY, 1L);
            connection.rollback();
        }
    }

    private Instant now() throws SQLException {
        return schema.one(Instant.class, "SELECT clock_timestamp()").orElseThrow();
    }

    private long jobs() throws SQLException {
        return schema.count("SELECT count(*) FROM rowlock_job");
    }

    private long orders() throws SQLException {
        return schema.count("SELECT count(*) FROM orders");
    }

    private static void order(Connection connection, int id) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            insert.setInt(1, id);
            insert.executeUpdate();
        }
    }
}
