package io.rowlock.kind;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.HandlerConfig;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Payloads of other versions than the handler's. The same kind, as releases of an application know it. */
@PostgresTest
final class UpcastIT {
    /** In euros. */
    @Kind("invoice")
    private record First(int no, int euros) {}

    /** In cents. */
    @Kind(value = "invoice", version = 2)
    private record Second(int no, int cents) {}

    /** In cents of a currency. */
    @Kind(value = "invoice", version = 3)
    private record Third(int no, int cents, String currency) {}

    @Kind("told")
    private record Told(int no) {}

    private TestSchema schema;
    private TestRowlock rowlock;
    private TestRowlock old;
    private TestRowlock older;
    private final Queue<Third> done = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        old = TestRowlock.beside(schema);
        older = TestRowlock.beside(schema);
    }

    private static void chain(HandlerConfig config) {
        config.upcast(1, json -> json.replaceAll("\"euros\":(\\d+)", "\"cents\":$100"))
                .upcast(2, Second.class, second -> new Third(second.no(), second.cents(), "EUR"))
                .retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2));
    }

    private WorkerConfig third(WorkerConfig config) {
        return config.handle(Third.class, (invoice, job) -> done.add(invoice), UpcastIT::chain);
    }

    private void drain() {
        try (HandCrankedWorker worker = rowlock.rowlock().handCrankedWorker(this::third)) {
            worker.drain();
        }
    }

    @Test
    @Tag("B39")
    void jobs_of_every_version_reach_a_handler_of_the_newest() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('invoice', '{\"no\":1,\"euros\":5}')");
        schema.execute("INSERT INTO rowlock_job (kind, payload, headers)"
                + " VALUES ('invoice', '{\"no\":2,\"cents\":7}', '{\"rowlock-version\":2}')");
        older.enqueue(new First(3, 6));
        old.enqueue(new Second(4, 8));
        rowlock.enqueue(new Third(5, 9, "CHF"));
        schema.list(
                Long.class,
                "SELECT rowlock_enqueue('invoice', '{\"no\":6,\"cents\":4}', headers => '{\"rowlock-version\": \"2\"}')");

        drain();

        assertThat(done)
                .containsExactly(
                        new Third(1, 500, "EUR"),
                        new Third(2, 7, "EUR"),
                        new Third(3, 600, "EUR"),
                        new Third(4, 8, "EUR"),
                        new Third(5, 9, "CHF"),
                        new Third(6, 4, "EUR"));
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(6);
    }

    @Test
    void version_stands_in_a_header_but_for_the_first() throws Exception {
        long first = older.enqueue(new First(1, 1)).id();
        long third = rowlock.enqueue(new Third(1, 1, "EUR"), job -> job.header("tenant", "a"))
                .id();

        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE id = " + first + " AND headers IS NULL"))
                .isEqualTo(1);
        assertThat(headers(third)).containsOnly(entry("rowlock-version", "3"), entry("tenant", "a"));
    }

    private Map<String, String> headers(long job) {
        return rowlock.rowlock()
                .jobs()
                .content(job, new By("test", "looks at headers"))
                .orElseThrow()
                .headers();
    }

    /** As handlers do that hand on tenant and trace. */
    @Test
    void handler_that_hands_on_all_headers_hands_on_no_version() throws Exception {
        rowlock.enqueue(new Third(1, 1, "EUR"));
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Third.class, (invoice, job) -> {
                    rowlock.enqueue(new Told(1), options -> job.headers().forEach(options::header));
                }))) {
            worker.drain();
        }
        assertThat(rowlock.rowlock().jobs().ofKind("told"))
                .singleElement()
                .satisfies(job -> assertThat(headers(job.id()))
                        .containsKey("rowlock-cause")
                        .doesNotContainKey("rowlock-version"));
    }

    @Test
    void dedup_replace_brings_the_version_of_the_new_payload_with_it() throws Exception {
        older.enqueue(new First(1, 1), job -> job.dedupKey("a", DedupMode.REPLACE));
        rowlock.enqueue(new Third(2, 2, "CHF"), job -> job.dedupKey("a", DedupMode.REPLACE));
        rowlock.enqueue(new Third(3, 3, "CHF"), job -> job.dedupKey("b", DedupMode.REPLACE));
        older.enqueue(new First(4, 4), job -> job.dedupKey("b", DedupMode.REPLACE));
        rowlock.enqueue(new Third(5, 5, "CHF"), job -> job.dedupKey("c"));
        older.enqueue(new First(6, 6), job -> job.dedupKey("c"));

        drain();

        assertThat(done)
                .containsExactlyInAnyOrder(new Third(2, 2, "CHF"), new Third(4, 400, "EUR"), new Third(5, 5, "CHF"));
    }

    /** Whichever version the worker that fires it knows: the row says what its payload is. */
    @Test
    void jobs_of_a_schedule_have_the_version_of_its_declaration() throws Exception {
        By ada = new By("ada", "a test");
        old.rowlock()
                .schedules()
                .declare(Schedule.fixedRate("old", Duration.ofDays(1)).job(new Second(1, 1)));
        rowlock.rowlock()
                .schedules()
                .declare(Schedule.fixedRate("new", Duration.ofDays(1)).job(new Third(2, 2, "CHF")));
        older.rowlock()
                .schedules()
                .declare(Schedule.fixedRate("first", Duration.ofDays(1)).job(new First(3, 3)));
        schema.execute("UPDATE rowlock_schedule SET next_at = clock_timestamp()");
        try (HandCrankedWorker worker =
                older.rowlock().handCrankedWorker(config -> config.handle(Told.class, (told, job) -> {}))) {
            worker.drain();
        }
        older.rowlock().schedules().runNow("new", ada);

        drain();

        assertThat(done)
                .containsExactlyInAnyOrder(
                        new Third(1, 1, "EUR"),
                        new Third(2, 2, "CHF"),
                        new Third(3, 300, "EUR"),
                        new Third(2, 2, "CHF"));
    }

    /** An old worker in a rolling deploy. */
    @Test
    void newer_payload_is_read_as_ones_own_and_where_that_fails_tried_again() throws Exception {
        List<Second> read = new ArrayList<>();
        long readable = rowlock.enqueue(new Third(1, 5, "CHF")).id();
        schema.execute("INSERT INTO rowlock_job (kind, payload, headers)"
                + " VALUES ('invoice', '{\"no\":2,\"cents\":{\"CHF\":7}}', '{\"rowlock-version\":\"4\"}')");
        long unreadable = schema.count("SELECT max(id) FROM rowlock_job");
        try (HandCrankedWorker worker = old.rowlock()
                .handCrankedWorker(config -> config.handle(Second.class, (invoice, job) -> read.add(invoice)))) {
            worker.drain();
        }

        assertThat(read).containsExactly(new Second(1, 5));
        assertThat(rowlock.state(readable)).isEqualTo(JobState.COMPLETED);
        assertThat(rowlock.job(unreadable).state()).isEqualTo(JobState.READY);
        assertThat(rowlock.job(unreadable).progress().lastError())
                .contains(
                        "The payload has version 4 of kind invoice, and cannot be read as version 2, which this worker"
                                + " knows; a newer worker may read it");
    }

    @Test
    @Tag("B39")
    @Tag("P10")
    void upcast_that_fails_or_is_missing_is_its_own_jobs_failure_and_the_others_run() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, headers) VALUES"
                + " ('invoice', '{\"no\":901,\"cents\":{}}', '{\"rowlock-version\":\"2\"}'),"
                + " ('invoice', '{\"no\":902,\"cents\":9}', '{\"rowlock-version\":\"many\"}'),"
                + " ('invoice', '{\"no\":903,\"cents\":9}', '{\"rowlock-version\":\"-1\"}'),"
                + " ('invoice', '[]', null)");
        for (int no : IntStream.rangeClosed(1, 50).toArray()) {
            older.enqueue(new First(no, no));
        }
        try (Worker worker = rowlock.work(this::third)) {
            rowlock.awaitAllEnded();
            soon().until(() -> worker.health().unrecorded() == 0);
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(done).hasSize(50);
        assertThat(schema.list(String.class, "SELECT last_error FROM rowlock_job WHERE state = 'dead' ORDER BY id"))
                .satisfiesExactly(
                        broken -> assertThat(broken).contains("The upcast from version 2 of kind invoice failed: "),
                        many -> assertThat(many)
                                .contains("rowlock-version of a job must be a whole number from 1, got many"),
                        less -> assertThat(less).contains("must be a whole number from 1, got -1"),
                        shape -> assertThat(shape).contains("Cannot deserialize"));
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isEqualTo(8);
    }

    @Test
    void upcast_may_say_that_its_job_will_never_do() throws Exception {
        long id = older.enqueue(new First(1, 1)).id();
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(
                        Third.class,
                        (invoice, job) -> {},
                        h -> h.upcast(1, json -> json).upcast(2, Second.class, second -> {
                            throw new PermanentFailure("nobody pays in euros any more");
                        })))) {
            assertThat(worker.drain()).isEqualTo(1);
        }
        assertThat(rowlock.job(id).state()).isEqualTo(JobState.DEAD);
        assertThat(rowlock.job(id).progress().lastError()).contains("nobody pays in euros any more");
    }

    @Test
    void version_without_upcast_fails_in_words_until_there_is_one() throws Exception {
        long id = older.enqueue(new First(1, 1)).id();
        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(config -> config.handle(Third.class, (invoice, job) -> {}))) {
            worker.drain();
        }
        assertThat(rowlock.job(id).progress().lastError())
                .contains("The payload has version 1 of kind invoice, and there is no upcast from it to version 3; add"
                        + " upcast(1, ...) to its handler");

        schema.execute("UPDATE rowlock_job SET run_at = clock_timestamp()");
        drain();
        assertThat(done).containsExactly(new Third(1, 100, "EUR"));
    }

    /** Else the payload of one version would be stamped with the other. */
    @Test
    @Tag("P15")
    void one_rowlock_knows_one_version_of_a_kind() throws Exception {
        JobKind<Third> kind = JobKind.of(Third.class);
        rowlock.rowlock().worker(this::third);
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> rowlock.rowlock()
                            .outbox()
                            .enqueue(connection, kind.version(2), new Third(1, 1, "EUR"), job -> {}))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("Kind invoice has two versions in one Rowlock, 3 and 2");
            assertThatThrownBy(() -> rowlock.rowlock().outbox().enqueue(connection, new Second(1, 1)))
                    .hasMessageContaining("Kind invoice stands for two payload types");
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
        }
    }
}
