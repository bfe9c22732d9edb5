package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.SagaView;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What people see of sagas, and do to many of them. */
@PostgresTest
final class FindIT {
    private static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final By ME = new By("ann", "why not");

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final AtomicBoolean broken = new AtomicBoolean(true);
    private SagaScene scene;

    record Trip(String name, String secret) {}

    @AfterEach
    void end() {
        scene.close();
    }

    private SagaDefinition<Trip> trip() {
        return saga -> saga.named("trip", Trip.class)
                .version(1)
                .businessKey(Trip::name)
                .step("a")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> done.add("undo " + trip.name()))
                .await(PAID, (trip, sum) -> trip)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.escalate())
                .pivot("p")
                .call((trip, step) -> {
                    if (broken.get()) {
                        throw new PermanentFailure("no room for " + trip.secret());
                    }
                    return trip;
                })
                .retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(1))
                .build();
    }

    private void begin(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, trip());
        scene.start();
    }

    private List<String> ids(SagaQuery query) {
        return scene.operations().find(query).sagas().stream().map(SagaView::id).toList();
    }

    /** Rows as sagas leave them: i of them of a name and status, made a minute apart, the newest last. */
    private static void rows(TestSchema schema, String name, String status, int from, int to) throws Exception {
        schema.execute(
                "INSERT INTO rowlock_saga (id, name, version, business_key, subject, status, state, step, created_at, finished_at)"
                        + " SELECT 's' || lpad(n::text, 6, '0'), ?, 1, 'key ' || n % 7, 'about ' || n % 5, ?, '{}', 'step ' || n % 3,"
                        + " timestamptz '2026-01-01 00:00Z' + n * interval '1 minute',"
                        + " CASE WHEN ? IN ('completed', 'compensated', 'resolved') THEN clock_timestamp() END"
                        + " FROM generate_series(?, ?) n",
                name, status, status, from, to);
    }

    @Test
    void every_filter_and_every_page_gives_what_it_says(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, trip());
        schema.execute("DROP INDEX rowlock_saga_holder");
        rows(schema, "one", "completed", 0, 99);
        rows(schema, "one", "running", 100, 149);
        rows(schema, "two", "stuck", 150, 169);
        rows(schema, "two", "compensation_failed", 170, 189);
        List<SagaQuery> queries = List.of(
                SagaQuery.all(),
                SagaQuery.all().name("one"),
                SagaQuery.all().name("two").needsPerson(),
                SagaQuery.all().needsPerson(),
                SagaQuery.all().status(SagaStatus.COMPLETED, SagaStatus.STUCK),
                SagaQuery.all().status(SagaStatus.RUNNING).step("step 1"),
                SagaQuery.all().businessKey("key 3"),
                SagaQuery.all().businessKey("key 3").name("two"),
                SagaQuery.all().subject("about 2").status(SagaStatus.COMPLETED),
                SagaQuery.all()
                        .createdFrom(Instant.parse("2026-01-01T00:10:00Z"))
                        .createdBefore(Instant.parse("2026-01-01T02:00:00Z")),
                SagaQuery.all().needsPerson().createdBefore(Instant.parse("2026-01-01T02:40:00Z")));
        List<String> where = List.of(
                "true",
                "name = 'one'",
                "name = 'two' AND status IN ('stuck', 'compensation_failed')",
                "status IN ('stuck', 'compensation_failed')",
                "status IN ('stuck', 'completed')",
                "status = 'running' AND step = 'step 1'",
                "business_key = 'key 3'",
                "business_key = 'key 3' AND name = 'two'",
                "subject = 'about 2' AND status = 'completed'",
                "created_at >= '2026-01-01T00:10:00Z' AND created_at < '2026-01-01T02:00:00Z'",
                "status IN ('stuck', 'compensation_failed') AND created_at < '2026-01-01T02:40:00Z'");
        for (int i = 0; i < queries.size(); i++) {
            List<String> expected = schema.list(
                    String.class,
                    "SELECT id FROM rowlock_saga WHERE " + where.get(i) + " ORDER BY created_at DESC, id DESC");
            List<String> found = new ArrayList<>();
            SagaQuery page = queries.get(i).pageSize(7);
            while (page != null) {
                SagaPage sagas = scene.operations().find(page);
                assertThat(sagas.sagas()).hasSizeLessThanOrEqualTo(7);
                sagas.sagas().forEach(saga -> found.add(saga.id()));
                page = sagas.next().isPresent() ? page.after(sagas.next().get()) : null;
            }
            assertThat(found).as(where.get(i)).isNotEmpty().isEqualTo(expected);
        }
        schema.execute(
                "TRUNCATE rowlock_saga; CREATE UNIQUE INDEX rowlock_saga_holder ON rowlock_saga (name, business_key)"
                        + " WHERE finished_at IS NULL AND business_key IS NOT NULL");
    }

    @Test
    void a_search_that_finds_little_stops_and_goes_on_behind(TestSchema schema) throws Exception {
        scene = new SagaScene(schema, trip());
        rows(schema, "rare", "completed", 1, 1);
        rows(schema, "usual", "completed", 2, 10_001);
        SagaPage first = scene.operations().find(SagaQuery.all().name("rare"));
        assertThat(first.sagas()).isEmpty();
        assertThat(first.next()).isPresent();
        SagaPage second = scene.operations()
                .find(SagaQuery.all().name("rare").after(first.next().get()));
        assertThat(second.sagas()).extracting(SagaView::id).containsExactly("s000001");
        assertThat(second.next()).isEmpty();
    }

    @Test
    void a_saga_is_seen_with_its_driver_and_its_timeline(TestSchema schema) throws Exception {
        begin(schema);
        scene.begin(TRIP, "1", new Trip("rome", "ann"));
        scene.awaitStep("1", "paid", "waiting");
        SagaView view = scene.operations().get("1").orElseThrow();
        assertThat(view.status()).isEqualTo(SagaStatus.RUNNING);
        assertThat(view.driver()).isNotNull();
        assertThat(view.state()).isEqualTo("{\"name\":\"rome\",\"secret\":\"ann\"}");
        assertThat(view.keys()).isEqualTo(new SagaView.Keys("rome", "rome", null));
        scene.signal(PAID, SagaTarget.saga("1"), 7);
        scene.await("1", SagaStatus.STUCK);
        scene.operations().retry("1", ME);
        SagaScene.await(
                () -> scene.step("1", "p").equals("failed") && scene.status("1").equals("stuck"));
        SagaTimeline timeline = scene.operations().timeline("1").orElseThrow();
        assertThat(timeline.saga().driver()).isNull();
        assertThat(timeline.steps()).extracting(SagaTimeline.Step::name).containsExactly("a", "paid", "p");
        assertThat(timeline.signals())
                .extracting(SagaTimeline.Signal::consumedBy)
                .containsExactly("paid");
        assertThat(timeline.operations())
                .extracting(SagaTimeline.Operation::what)
                .containsExactly("retry");
        assertThat(timeline.toText())
                .contains("saga 1 (trip v1): stuck", "no room for ann", "retry", "paid")
                .doesNotContain("\t");
        assertThat(timeline.toMermaid()).contains("classDef failed fill:", "class n1,n2 completed", "class n3 failed");
        assertThat(scene.operations().get("none")).isEmpty();
        assertThat(scene.operations().timeline("none")).isEmpty();
    }

    @Test
    void many_are_retried_and_cancelled_some_at_a_time(TestSchema schema) throws Exception {
        begin(schema);
        for (int i = 0; i < 120; i++) {
            scene.begin(TRIP, "t" + i, new Trip("to " + i, "ann"));
        }
        for (int i = 0; i < 110; i++) {
            scene.signal(PAID, SagaTarget.saga("t" + i), 1);
        }
        SagaScene.await(() -> ids(SagaQuery.all().needsPerson().pageSize(1000)).size() == 110);
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_saga_step WHERE status = 'waiting'") == 10);
        broken.set(false);
        try (Connection holder = schema.begin();
                var statement = holder.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_saga WHERE id = 't5' FOR UPDATE");
            assertThat(scene.operations().retryAll(SagaQuery.all(), ME)).isEqualTo(new SagaTally(109, 0, 1, 0));
        }
        assertThat(scene.operations().retryAll(SagaQuery.all(), ME).done()).isEqualTo(1);
        assertThat(scene.operations().retryAll(SagaQuery.all(), ME)).isEqualTo(new SagaTally(0, 0, 0, 0));
        assertThat(scene.operations()
                        .retryAll(SagaQuery.all().status(SagaStatus.RUNNING), ME)
                        .done())
                .isZero();
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_saga WHERE status = 'completed'") == 110);
        assertThat(scene.operations()
                        .cancelAll(SagaQuery.all().name("trip"), ME)
                        .done())
                .isEqualTo(10);
        SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_saga WHERE status = 'compensated'") == 10);
        assertThat(done).hasSize(10);
        assertThat(scene.operations().cancelAll(SagaQuery.all(), ME).done()).isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation WHERE what = 'retry'"))
                .isEqualTo(110);
    }

    @Test
    void what_finished_sagas_of_a_subject_say_is_taken_out(TestSchema schema) throws Exception {
        begin(schema);
        broken.set(false);
        scene.inTransaction(connection -> scene.sagas()
                .start(connection, TRIP, "1", new Trip("rome", "ann's"), options -> options.subject("Customer:ann")));
        scene.begin(TRIP, "2", new Trip("Customer:ann", "ann's"));
        scene.inTransaction(connection -> scene.sagas()
                .start(connection, TRIP, "3", new Trip("oslo", "ann's"), options -> options.subject("Customer:ann")));
        scene.begin(TRIP, "4", new Trip("bonn", "bob's"));
        for (String id : List.of("1", "2", "4")) {
            scene.signal(PAID, SagaTarget.saga(id), 7);
            scene.await(id, SagaStatus.COMPLETED);
        }
        scene.awaitStep("3", "paid", "waiting");
        assertThat(scene.one("SELECT subject FROM rowlock_job WHERE payload::text = '\"1\"'"))
                .isEqualTo("Customer:ann");
        schema.execute("UPDATE rowlock_saga SET cancel_reason = 'ann: hers' WHERE id = '1'");
        assertThat(scene.operations().redact("Customer:ann", ME)).isEqualTo(new SagaRedaction(2, 1, 0));
        assertThat(scene.operations().redact("Customer:ann", ME)).isEqualTo(new SagaRedaction(2, 1, 0));
        assertThat(schema.list(String.class, "SELECT id FROM rowlock_saga WHERE state::text LIKE '%ann''s%'"))
                .containsExactly("3");
        assertThat(schema.list(
                        String.class,
                        "SELECT coalesce(cancel_reason, 'none') || coalesce(first_state::text, ' none') FROM rowlock_saga"
                                + " WHERE id IN ('1', '2') ORDER BY id"))
                .containsExactly("redacted none", "none none");
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga_step WHERE saga IN ('1', '2') AND"
                        + " (result IS NOT NULL OR error IS NOT NULL)"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga_signal WHERE payload::text = '{}'"))
                .isEqualTo(2);
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE id = '4' AND state::text LIKE '%bob%'"))
                .isEqualTo(1);
        assertThat(scene.operations().fork("1", "p", "9", ME).words()).contains("redacted");
        assertThatThrownBy(() -> scene.operations().redact(" ", ME)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void an_alert_of_a_saga_loses_its_words_though_the_saga_and_its_jobs_are_gone(TestSchema schema) throws Exception {
        begin(schema);
        scene.begin(TRIP, "1", new Trip("Customer:ann", "ann's"));
        scene.signal(PAID, SagaTarget.saga("1"), 7);
        scene.await("1", SagaStatus.STUCK);
        String traces = "SELECT count(*) FROM rowlock_alert WHERE reason LIKE '%ann''s%'";
        assertThat(schema.count(traces)).isEqualTo(1);
        schema.execute("DELETE FROM rowlock_saga; DELETE FROM rowlock_job");

        assertThat(scene.operations().redact("Customer:ann", ME)).isEqualTo(new SagaRedaction(0, 0, 0));

        assertThat(schema.count(traces)).isZero();
    }

    @Test
    void a_finished_saga_that_somebody_has_locked_is_redacted_when_it_is_free(TestSchema schema) throws Exception {
        begin(schema);
        rows(schema, "trip", "completed", 1, 10);
        schema.execute("UPDATE rowlock_saga SET state = '{\"a\":1}'");
        CompletableFuture<SagaRedaction> redaction;
        try (Connection holder = schema.begin();
                var statement = holder.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_saga WHERE id = 's000002' FOR UPDATE");
            redaction = CompletableFuture.supplyAsync(() -> scene.operations().redact("about 2", ME));
            SagaScene.await(() -> schema.count("SELECT count(*) FROM rowlock_operation") == 1);
            assertThat(redaction).isNotDone();
        }
        assertThat(redaction.join()).isEqualTo(new SagaRedaction(2, 0, 0));
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE state::text = '{}'"))
                .isEqualTo(2);
    }
}
