package io.rowlock.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The headers that jobs have besides their own: what contributors say, and by what job they are caused. */
@PostgresTest
final class ContextHeadersIT {
    @Kind("ping")
    private record Ping(int round) {}

    @Kind("pong")
    private record Pong(int round) {}

    private static final String LOOPS =
            "SELECT kind || ': ' || reason FROM rowlock_alert WHERE cause = 'jobs in a loop' ORDER BY kind";

    private final Map<String, String> context = new LinkedHashMap<>();
    private final AtomicInteger asked = new AtomicInteger();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(
                schema,
                builder -> builder.headers(() -> {
                            asked.incrementAndGet();
                            return context;
                        })
                        .headers(() -> Map.of("actor", "ada")));
    }

    private Map<String, String> headers(Consumer<JobOptions> options) throws Exception {
        return rowlock.content(rowlock.enqueue(new Ping(1), options).id()).headers();
    }

    @Test
    void what_contributors_say_stands_in_each_job_unless_the_job_says_otherwise() throws Exception {
        context.put("tenant", "north");
        context.put("actor", "nobody");

        assertThat(headers(options -> {})).containsOnly(entry("tenant", "north"), entry("actor", "ada"));
        assertThat(headers(options -> options.header("tenant", "south").header("trace", "7")))
                .containsOnly(entry("tenant", "south"), entry("actor", "ada"), entry("trace", "7"));
    }

    @Test
    void contributors_are_asked_once_for_many_jobs() throws Exception {
        List<JobRequest<?>> many = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            many.add(JobRequest.of(new Ping(i)));
        }
        context.put("tenant", "north");

        List<Enqueued> jobs = new ArrayList<>();
        rowlock.commit(connection -> jobs.addAll(rowlock.rowlock().outbox().enqueueAll(connection, many)));

        assertThat(asked.get()).isEqualTo(1);
        assertThat(rowlock.content(jobs.get(99).id()).headers()).containsEntry("tenant", "north");
    }

    @Test
    @Tag("P14")
    void what_is_no_header_is_refused_before_any_sql() throws Exception {
        context.put(" ", "north");
        refused("header name must not be blank");
        context.clear();
        context.put("tenant", null);
        refused("The value of header tenant must not be null");
        context.clear();
        context.put("tenant", "x".repeat(9_000));
        refused("more than the limit of 8192");
        TestRowlock silent = TestRowlock.fresh(schema, builder -> builder.headers(() -> null));
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> silent.rowlock().outbox().enqueue(connection, new Ping(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("must not give null; give an empty map");
        }
    }

    private void refused(String message) throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> rowlock.rowlock().outbox().enqueue(connection, new Ping(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining(message);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
        }
    }

    @Test
    void job_that_a_handler_writes_says_which_one_caused_it_and_how_deep_it_is() throws Exception {
        List<Map<String, String>> seen = new ArrayList<>();
        long first = rowlock.enqueue(new Ping(1)).id();
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Ping.class, (ping, job) -> {
                            seen.add(new HashMap<>(job.headers()));
                            if (ping.round() < 3) {
                                rowlock.enqueue(
                                        new Ping(ping.round() + 1),
                                        options -> job.headers().forEach(options::header)); // handed on as they are
                            }
                        })
                        .handleTransactionally(
                                Pong.class,
                                (pong, job, connection) ->
                                        rowlock.rowlock().outbox().enqueue(connection, new Ping(3))))) {
            assertThat(worker.drain()).isEqualTo(3);
            assertThat(seen.get(0)).doesNotContainKeys("rowlock-depth", "rowlock-cause");
            assertThat(seen.get(1)).containsEntry("rowlock-depth", "1").containsEntry("rowlock-cause", "ping/" + first);
            assertThat(seen.get(2)).containsEntry("rowlock-depth", "2");

            long pong = rowlock.enqueue(new Pong(1)).id();
            assertThat(worker.drain()).isEqualTo(2);
            assertThat(seen.get(3)).containsEntry("rowlock-depth", "1").containsEntry("rowlock-cause", "pong/" + pong);
        }
        assertThat(headers(options -> {})).doesNotContainKey("rowlock-depth");
        assertThat(schema.list(String.class, LOOPS)).isEmpty();
    }

    @Test
    void thread_of_a_handlers_own_begins_a_new_chain() throws Exception {
        long[] written = new long[1];
        rowlock.enqueue(new Ping(1));
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(
                        Ping.class,
                        (ping, job) -> written[0] = CompletableFuture.supplyAsync(() -> {
                                    try {
                                        return rowlock.enqueue(new Pong(1)).id();
                                    } catch (Exception e) {
                                        throw new IllegalStateException(e);
                                    }
                                })
                                .get()))) {
            worker.drain();
        }

        assertThat(rowlock.content(written[0]).headers()).doesNotContainKey("rowlock-depth");
    }

    /** Two kinds that cause each other: an alert for each names the other. */
    @Test
    void loop_of_jobs_is_named_by_an_alert_once_for_each_kind_of_it() throws Exception {
        long[] last = new long[2];
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Ping.class, (ping, job) -> {
                            last[0] = job.id();
                            if (ping.round() < 26) {
                                rowlock.enqueue(new Pong(ping.round() + 1));
                            }
                        })
                        .handle(Pong.class, (pong, job) -> {
                            last[1] = job.id();
                            rowlock.enqueue(new Ping(pong.round() + 1));
                        }))) {
            rowlock.enqueue(new Ping(0));
            for (int i = 0; i <= 20; i++) {
                assertThat(worker.runNext()).isTrue();
            }
            assertThat(schema.list(String.class, LOOPS)).isEmpty();
            long twentieth = last[0];
            assertThat(worker.runNext()).isTrue();
            assertThat(schema.list(String.class, LOOPS))
                    .singleElement()
                    .asString()
                    .startsWith("pong: jobs cause jobs, by now in a chain of 21; the one before is ping/" + twentieth);
            worker.drain();
        }

        assertThat(schema.list(String.class, LOOPS)).hasSize(2);
        assertThat(schema.count("SELECT sum(n)::bigint FROM rowlock_alert WHERE cause = 'jobs in a loop'"))
                .isEqualTo(2);
    }

    @Test
    @Tag("P10")
    void alert_of_a_loop_that_cannot_be_written_holds_up_no_job() throws Exception {
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Ping.class, (ping, job) -> {
                    if (ping.round() < 25) {
                        rowlock.enqueue(new Ping(ping.round() + 1));
                    }
                }))) {
            schema.execute("ALTER TABLE rowlock_alert RENAME TO put_aside");
            rowlock.enqueue(new Ping(0));
            assertThat(worker.drain()).isEqualTo(26);
        } finally {
            schema.execute("ALTER TABLE put_aside RENAME TO rowlock_alert");
        }
    }

    @Test
    void header_of_somebody_elses_that_is_no_number_is_no_depth() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, headers) VALUES ('ping', '{\"round\":1}', '{\"rowlock-depth\":\"deep\"}'),"
                        + " ('ping', '{\"round\":1}', '[\"rowlock-depth\"]')");
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(Ping.class, (ping, job) -> rowlock.enqueue(new Pong(1))))) {
            assertThat(worker.drain()).isEqualTo(2);
        }
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE kind = 'pong' AND headers->>'rowlock-depth' = '1'"))
                .isEqualTo(2);
    }
}
