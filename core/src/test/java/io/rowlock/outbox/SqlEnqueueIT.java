package io.rowlock.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rowlock.error.SchemaException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Job;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The enqueue for triggers and other languages. */
@PostgresTest
final class SqlEnqueueIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schema.execute("DROP TABLE IF EXISTS orders; CREATE TABLE orders (id bigint PRIMARY KEY)");
    }

    private long enqueue(String arguments) throws SQLException {
        return schema.count("SELECT rowlock_enqueue(" + arguments + ")");
    }

    @Test
    @Tag("P1")
    void a_trigger_on_a_business_table_writes_a_job_that_a_handler_runs() throws Exception {
        schema.execute("CREATE FUNCTION order_placed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " PERFORM rowlock_enqueue('mail', json_build_object('no', NEW.id), subject => 'Order:' || NEW.id);"
                + " RETURN NULL; END $$;"
                + "CREATE TRIGGER placed AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION order_placed()");
        try (Connection connection = schema.begin()) {
            connection.createStatement().execute("INSERT INTO orders VALUES (1), (2)");
            connection.rollback();
            connection.createStatement().execute("INSERT INTO orders VALUES (7)");
            connection.commit();
        } finally {
            schema.execute("DROP FUNCTION order_placed CASCADE");
        }

        int[] told = new int[1];
        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> told[0] = mail.no()))) {
            assertThat(worker.drain()).isEqualTo(1);
        }
        assertThat(told[0]).isEqualTo(7);
        assertThat(rowlock.rowlock().jobs().ofSubject("Order:7")).hasSize(1);
    }

    @Test
    void what_is_not_said_is_as_in_java() throws Exception {
        long sql = enqueue("'mail', '{\"no\":1}'");
        long java = rowlock.enqueue(new Mail(1)).id();

        assertThat(java).isGreaterThan(sql);
        assertThat(schema.count("SELECT count(DISTINCT (queue, kind, priority, state, token, attempts, payload::text,"
                        + " headers::text, subject, max_attempts, ordering_key, limit_key, dedup_key, dedup_mode, waiting_key))"
                        + " FROM rowlock_job"))
                .isEqualTo(1);
    }

    @Test
    void everything_that_is_said_stands_in_the_row() throws Exception {
        long id = enqueue("kind => 'mail', payload => '{\"no\": 1}', run_at => '2999-01-01 00:00Z', queue => 'q',"
                + " priority => 'low', subject => 'Order:1', headers => '{\"tenant\": \"north\"}', max_attempts => 3,"
                + " ordering_key => 'o', dedup_key => 'a', dedup_mode => 'push-back',"
                + " limit_key => 't'");

        Job job = rowlock.job(id);
        assertThat(job.queue()).isEqualTo("q");
        assertThat(job.subject()).isEqualTo("Order:1");
        assertThat(rowlock.content(job.id()).payload()).isEqualTo("{\"no\": 1}");
        assertThat(rowlock.content(job.id()).headers()).isEqualTo(Map.of("tenant", "north"));
        assertThat(job.progress().priority()).isEqualTo(Priority.LOW);
        assertThat(job.progress().maxAttempts()).isEqualTo(3);
        assertThat(job.progress().runAt()).isEqualTo(Instant.parse("2999-01-01T00:00:00Z"));
        assertThat(
                        schema.list(
                                String.class,
                                "SELECT concat_ws('/', ordering_key, dedup_key, dedup_mode, waiting_key, limit_key) FROM rowlock_job"))
                .containsExactly("o/a/push-back/a/t");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run_at => '-infinity' | 0",
                "run_at => clock_timestamp() - interval '1 hour' | 0",
                "delay => interval '1 hour' | 3600"
            })
    @Tag("P7")
    void it_is_due_by_the_databases_clock_and_never_in_the_past(String due, long seconds) throws Exception {
        long id = enqueue("'mail', '{}', " + due);

        assertThat(schema.count(
                        "SELECT round(extract(epoch FROM run_at - created_at) / 10)::bigint * 10 FROM rowlock_job WHERE id = ?",
                        id))
                .isEqualTo(seconds);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "NULL, '{}' | kind must not be null",
                "' ', '{}' | kind must not be blank",
                "repeat('k', 201), '{}' | kind must have at most 200 characters, got 201",
                "E'a\\nb', '{}' | kind must have no control characters",
                "'mail', NULL | payload of a job must not be null",
                "'mail', 'null' | payload of a job must not be null",
                "'mail', to_json(repeat('x', 2097151)) | more than the limit of 2097152",
                "'mail', '[1,2]', max_payload_bytes => 4 | has 5 bytes, more than the limit of 4",
                "'mail', '[1,2]', max_payload_bytes => NULL | max_payload_bytes must be between 1 and 67108864, got null",
                "'mail', '[1,2]', max_payload_bytes => 67108865 | max_payload_bytes must be between 1 and 67108864, got 67108865",
                "'mail', '[1,2]', max_payload_bytes => 0 | max_payload_bytes must be between 1 and 67108864, got 0",
                "'mail', '{}', queue => NULL | queue must not be null",
                "'mail', '{}', queue => U&'\\2003\\3000' | queue must not be blank",
                "'mail', '{}', subject => '' | subject must not be blank",
                "'mail', '{}', subject => repeat('s', 201) | or use a hash of the long text",
                "'mail', '{}', subject => U&'\\0085' | subject must have no control characters",
                "'mail', '{}', ordering_key => ' ' | ordering_key must not be blank",
                "'mail', '{}', dedup_key => repeat('s', 201) | dedup_key must have at most 200 characters",
                "'mail', '{}', headers => '[]' | headers must be a JSON object of texts, got array",
                "'mail', '{}', headers => '{\"a\": 1}' | Write numbers as texts",
                "'mail', '{}', headers => json_build_object('a', repeat('x', 8192)) | more than the limit of 8192",
                "'mail', '{}', headers => '{\"\": \"x\"}' | header name must not be blank",
                "'mail', '{}', headers => '{\"a\": \"1\", \"a\": \"2\"}' | headers must have each name once",
                "'mail', '{}', headers => json_build_object(repeat('n', 201), 'x') | header name must have at most 200 characters, got 201",
                "'mail', '{}', headers => json_build_object(E'a\\nb', 'x') | header name must have no control characters",
                "'mail', '{}', headers => '{\"a\\u0000\": \"x\"}' | headers must not have the character U+0000",
                "'mail', '{}', headers => '{\"a\": \"x\\\\\\u0000\"}' | headers must not have the character U+0000",
                "'mail', '{}', priority => 'urgent' | priority must be high, normal or low, got urgent",
                "'mail', '{}', priority => NULL | priority must be high, normal or low, got null",
                "'mail', '{}', max_attempts => 0 | max_attempts must be between 1 and 1000000, got 0",
                "'mail', '{}', delay => '-1 s' | delay must be between 0 and 100 years",
                "'mail', '{}', delay => '101 years' | delay must be between 0 and 100 years",
                "'mail', '{}', run_at => 'infinity' | run_at must be a time up to 9999",
                "'mail', '{}', run_at => now(), delay => '1 s' | run_at and delay cannot both be set",
                "'mail', '{}', dedup_key => 'a', dedup_mode => 'never' | dedup_mode must be keep, replace, push-back or once",
                "'mail', '{}', dedup_mode => 'once' | dedup_mode needs a dedup_key"
            })
    @Tag("P14")
    void a_bad_value_is_refused_by_name_with_what_to_do(String arguments, String message) {
        assertThatThrownBy(() -> enqueue(arguments))
                .isInstanceOfSatisfying(
                        SQLException.class,
                        refused -> assertThat(refused.getSQLState()).isEqualTo("22023"))
                .hasMessageContaining(message);
    }

    /** No-break spaces are no blanks for Java; a backslash before u0000 is text. */
    @Test
    @Tag("P15")
    void what_only_looks_like_a_bad_value_is_written_as_it_is() throws Exception {
        long id = enqueue(
                "'mail', '{}', queue => U&'\\00A0', max_payload_bytes => 67108864, headers => '{\"a\": \"\\\\u0000\"}'");

        assertThat(rowlock.job(id).queue()).isEqualTo("\u00a0");
        assertThat(rowlock.content(id).headers()).isEqualTo(Map.of("a", "\\u0000"));
        assertThat(rowlock.enqueue(new Mail(1), options -> options.queue("\u00a0"))
                        .queue())
                .isEqualTo("\u00a0");
    }

    @Test
    @Tag("P15")
    void a_key_is_refused_above_read_committed() throws Exception {
        try (Connection connection = schema.connect()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);

            assertThatThrownBy(() -> connection
                            .createStatement()
                            .execute("SELECT rowlock_enqueue('mail', '{}', dedup_key => 'a')"))
                    .hasMessageContaining("READ COMMITTED transaction only, this one is repeatable read");
        }
    }

    @ParameterizedTest
    @EnumSource(DedupMode.class)
    @Tag("B40")
    void duplicates_are_told_as_in_java_and_across_both(DedupMode mode) throws Exception {
        String key = ", dedup_key => 'a', dedup_mode => '" + mode.text() + "'";
        long first = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a", mode)).id();

        long second = enqueue("'mail', '{\"no\":2}', delay => '1 hour', subject => 'Order:2'" + key);

        assertThat(second).isEqualTo(first);
        assertThat(rowlock.enqueue(new Mail(3), o -> o.dedupKey("a")).duplicate())
                .isEqualTo(mode != DedupMode.ONCE);
        Job job = rowlock.job(first);
        assertThat(rowlock.content(job.id()).payload())
                .isEqualTo(mode == DedupMode.REPLACE ? "{\"no\":2}" : "{\"no\":1}");
        assertThat(job.subject()).isEqualTo(mode == DedupMode.REPLACE ? "Order:2" : null);
        assertThat(job.progress().runAt().isAfter(Instant.now().plusSeconds(1_800)))
                .isEqualTo(mode == DedupMode.PUSH_BACK);
    }

    @Test
    @Tag("B40")
    void a_job_that_is_kept_is_not_started_before_the_transaction_of_its_duplicate_has_ended() throws Exception {
        rowlock.enqueue(new Mail(1), o -> o.dedupKey("a"));
        try (HandCrankedWorker worker =
                        rowlock.rowlock().handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {}));
                Connection connection = schema.begin()) {
            connection.createStatement().execute("SELECT rowlock_enqueue('mail', '{}', dedup_key => 'a')");

            assertThat(worker.runNext()).isFalse();
            connection.commit();
            assertThat(worker.runNext()).isTrue();
        }
    }

    @Test
    void who_waits_for_a_transaction_that_rolls_back_writes_its_own() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection connection = schema.begin()) {
            rowlock.rowlock().outbox().enqueue(connection, new Mail(1), o -> o.dedupKey("a"));
            Future<Long> second = thread.submit(() -> enqueue("'mail', '{\"no\":2}', dedup_key => 'a'"));
            TestRowlock.soon()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND wait_event_type = 'Lock'",
                                    schema.name())
                            == 1);
            connection.rollback();

            assertThat(rowlock.content(second.get()).payload()).isEqualTo("{\"no\":2}");
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    @Tag("B54")
    void its_name_follows_schema_and_prefix_and_a_hostile_search_path_changes_nothing() throws Exception {
        TestRowlock custom = TestRowlock.custom(schema, "app_");
        try (Connection connection = schema.begin()) {
            var statement = connection.createStatement();
            statement.execute("CREATE TEMP TABLE app_job (id bigint)");
            statement.execute("SET LOCAL search_path = pg_temp");
            statement.execute("SELECT " + schema.name() + ".app_enqueue('mail', '{\"no\":1}', dedup_key => 'a')");
            connection.commit();
        }

        assertThat(custom.count(JobState.READY)).isZero();
        assertThat(schema.count("SELECT count(*) FROM app_job")).isEqualTo(1);
    }

    @Test
    @Tag("B54")
    void validate_misses_it_and_it_says_what_it_is_for() throws Exception {
        assertThat(schema.list(String.class, "SELECT obj_description('rowlock_enqueue'::regproc, 'pg_proc')"))
                .singleElement()
                .asString()
                .contains("caller's transaction");
        TestRowlock other = TestRowlock.custom(schema, "gone_");
        schema.execute("DROP FUNCTION gone_enqueue");

        SchemaException differs = catchThrowableOfType(
                SchemaException.class, () -> other.rowlock().schema().validate());

        assertThat(differs.problems())
                .singleElement()
                .asString()
                .contains("missing or different: function enqueue(kind text, payload json,");
    }
}
