package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobCounts;
import io.rowlock.job.JobCursor;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs are found by whatever people know of them, page by page; what waits is counted with its lag. */
@PostgresTest
final class FindIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "INC-7");

    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
    }

    @Test
    void every_filter_alone_and_with_others_finds_what_it_says() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, queue, subject, state, payload, created_at, finished_at)"
                + " SELECT 'k' || n % 2, 'q' || n % 3, 'Order:' || n % 5, s.state, '{}', timestamptz '2026-01-01Z' + n * interval '1 day',"
                + " CASE WHEN s.state IN ('completed', 'dead', 'cancelled') THEN timestamptz '2026-06-01Z' + n * interval '1 day' END"
                + " FROM generate_series(1, 200) n CROSS JOIN LATERAL (SELECT"
                + " (ARRAY['ready', 'parked', 'completed', 'dead', 'cancelled'])[1 + n % 7 % 5] AS state) s");
        Instant march = Instant.parse("2026-03-01T00:00:00Z");
        Instant august = Instant.parse("2026-08-01T00:00:00Z");
        List<JobQuery> of = List.of(JobQuery.all(), JobQuery.all().subject("Order:3"));
        for (JobQuery first : of) {
            for (JobQuery query : List.of(
                    first,
                    first.kind("k1"),
                    first.queue("q2"),
                    first.kind("k1").queue("q2"),
                    first.state(JobState.READY),
                    first.state(JobState.DEAD),
                    first.state(JobState.DEAD, JobState.PARKED).kind("k1"),
                    first.state(JobState.CANCELLED).queue("q2").createdFrom(march),
                    first.createdFrom(march).createdBefore(august),
                    first.finishedFrom(august),
                    first.finishedBefore(august).state(JobState.DEAD).kind("k0"),
                    first.finishedFrom(august).state(JobState.READY))) {
                assertThat(all(query.pageSize(7)))
                        .as(where(query))
                        .isEqualTo(schema.list(
                                Long.class,
                                "SELECT id FROM rowlock_job WHERE " + where(query) + " ORDER BY "
                                        + (query.byEnd() ? "finished_at DESC, " : "") + "id DESC"));
            }
        }
    }

    @Test
    void pages_step_over_nothing_and_give_nothing_twice_while_jobs_change() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, state, finished_at)"
                + " SELECT 'step', '{}', 'dead', clock_timestamp() FROM generate_series(1, 30)");
        List<Long> expected = schema.list(Long.class, "SELECT id FROM rowlock_job ORDER BY id DESC");
        List<Long> found = new ArrayList<>();
        JobQuery query = JobQuery.all().kind("step").pageSize(10);
        for (JobPage page = jobs.find(query); ; page = jobs.find(query)) {
            page.jobs().forEach(job -> found.add(job.id()));
            for (Job job : page.jobs().subList(0, Math.min(3, page.jobs().size()))) {
                jobs.revive(job.id(), ADA);
            }
            rowlock.enqueue(new Step(1));
            if (page.next().isEmpty()) {
                break;
            }
            query = query.after(page.next().get());
        }
        assertThat(found).isEqualTo(expected);
    }

    @Test
    @Tag("B59")
    void what_waits_runs_and_is_dead_is_counted_for_each_queue_and_kind_with_its_lag() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        rowlock.enqueue(new Step(1), o -> o.orderingKey("a"));
        rowlock.enqueue(new Step(2));
        try (Worker worker = rowlock.work(w -> w.queue("default", 4).handle(Step.class, (step, job) -> gate.await()))) {
            soon().until(() -> worker.health().running() == 2);
            rowlock.enqueue(new Step(3), o -> o.orderingKey("a"));
            soon().until(() -> rowlock.count(JobState.PARKED) == 1);
            rowlock.enqueue(new Step(4), o -> o.after(Duration.ofDays(1)));
            schema.execute("INSERT INTO rowlock_job (kind, queue, payload, run_at, losses, priority) VALUES"
                    + " ('foreign', 'far', '{}', clock_timestamp() - interval '1 hour', 0, 0),"
                    + " ('foreign', 'far', '{}', clock_timestamp() - interval '3 hours', 1, 1),"
                    + " ('foreign', 'far', '{}', clock_timestamp() - interval '2 hours', 0, 2)");
            schema.execute("INSERT INTO rowlock_job (kind, payload, state, finished_at) VALUES"
                    + " ('old', '{}', 'dead', clock_timestamp()), ('done', '{}', 'completed', clock_timestamp())");

            List<JobCounts> load = jobs.load();

            assertThat(load)
                    .extracting(of -> of.queue() + " " + of.kind())
                    .containsExactly("default old", "default step", "far foreign");
            assertThat(load.get(0).dead()).isEqualTo(1);
            assertThat(load.get(1)).satisfies(step -> {
                assertThat(step.leased()).isEqualTo(2);
                assertThat(step.parked()).isEqualTo(1);
                assertThat(step.future()).isEqualTo(1);
                assertThat(step.lag()).isEqualTo(new JobCounts.Lag(0, null, Duration.ZERO));
            });
            assertThat(load.get(2)).satisfies(foreign -> {
                assertThat(foreign.lag().due()).isEqualTo(3);
                assertThat(foreign.suspects()).isEqualTo(1);
                assertThat(foreign.lag().behind()).isBetween(Duration.ofHours(3), Duration.ofHours(4));
                assertThat(foreign.lag().oldest()).isNotNull();
            });
            gate.countDown();
        }
    }

    @Test
    void what_a_transaction_has_written_is_found_over_its_connection() throws Exception {
        try (Connection connection = schema.begin()) {
            rowlock.rowlock().outbox().enqueue(connection, new Step(1));
            assertThat(jobs.in(connection).find(JobQuery.all()).jobs()).hasSize(1);
            assertThat(jobs.in(connection).load()).hasSize(1);
            assertThat(jobs.find(JobQuery.all()).jobs()).isEmpty();
        }
    }

    @Test
    void what_cannot_be_asked_for_is_refused() {
        JobQuery all = JobQuery.all();
        assertThatThrownBy(() -> all.pageSize(0)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.pageSize(1_001)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.kind(" ")).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.subject("x".repeat(201))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.state(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.createdFrom(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> all.after(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> new JobCursor(null, 0)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> jobs.find((JobQuery) null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> jobs.find(all.finishedFrom(Instant.EPOCH).after(new JobCursor(null, 7))))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("another order");
        assertThatThrownBy(() -> jobs.find(all.after(new JobCursor(Instant.EPOCH, 7))))
                .isInstanceOf(InvalidUseException.class);
    }

    private List<Long> all(JobQuery first) {
        List<Long> found = new ArrayList<>();
        JobQuery query = first;
        while (true) {
            JobPage page = jobs.find(query);
            page.jobs().forEach(job -> found.add(job.id()));
            if (page.next().isEmpty()) {
                return found;
            }
            query = query.after(page.next().get());
        }
    }

    private static String where(JobQuery query) {
        List<String> all = new ArrayList<>(List.of("true"));
        query.kind().ifPresent(kind -> all.add("kind = '" + kind + "'"));
        query.queue().ifPresent(queue -> all.add("queue = '" + queue + "'"));
        query.subject().ifPresent(subject -> all.add("subject = '" + subject + "'"));
        query.createdFrom().ifPresent(at -> all.add("created_at >= '" + at + "'"));
        query.createdBefore().ifPresent(at -> all.add("created_at < '" + at + "'"));
        query.finishedFrom().ifPresent(at -> all.add("finished_at >= '" + at + "'"));
        query.finishedBefore().ifPresent(at -> all.add("finished_at < '" + at + "'"));
        if (!query.states().isEmpty()) {
            all.add("state IN ('"
                    + String.join(
                            "', '", query.states().stream().map(JobState::text).toList()) + "')");
        }
        return String.join(" AND ", all);
    }
}
