package io.rowlock.event.micrometer;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.rowlock.event.RowlockEvent.BulkStatementMet;
import io.rowlock.event.RowlockEvent.ClockCompared;
import io.rowlock.event.RowlockEvent.JobCancelled;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobRevived;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.event.RowlockEvent.NamedLeaseReleased;
import io.rowlock.event.RowlockEvent.NamedLeaseTaken;
import io.rowlock.event.RowlockEvent.NotificationFailed;
import io.rowlock.event.RowlockEvent.PartAbandoned;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.Priority;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.lease.Lease;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the meters say, by queue and kind, and what they never say. */
@PostgresTest
final class RowlockMetricsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private final TestSchema schema;
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RowlockMetrics metrics = new RowlockMetrics(registry, Tags.of("db", "orders"));

    RowlockMetricsIT(TestSchema schema) {
        this.schema = schema;
    }

    private double count(String name, String... tags) {
        return registry.get(name)
                .tags("queue", "default", "kind", "mail")
                .tags(tags)
                .counter()
                .count();
    }

    private long timed(String name, String... tags) {
        return registry.get(name)
                .tags("queue", "default", "kind", "mail")
                .tags(tags)
                .timer()
                .count();
    }

    @Test
    void leases_are_counted_by_name_and_parts_by_that_of_their_partitions() throws Exception {
        metrics.on(new NamedLeaseTaken("billing", 1, "here"));
        metrics.on(new NamedLeaseReleased("billing", 1));
        metrics.on(new NamedLeaseTaken("partition:a/feed/0", 2, "here"));
        metrics.on(new NamedLeaseTaken("partition:a/feed/1", 3, "here"));
        metrics.on(new NamedLeaseLost("partition:a/feed/1", 3, "why"));
        metrics.on(new PartAbandoned("a/feed", 1, 3, "here"));
        metrics.on(new LeaderSessionLost("scheduler", "why"));
        assertThat(counted("rowlock.leases.taken", "lease", "billing")).isEqualTo(1);
        assertThat(counted("rowlock.leases.released", "lease", "billing")).isEqualTo(1);
        assertThat(counted("rowlock.leases.taken", "lease", "partition:a/feed")).isEqualTo(2);
        assertThat(counted("rowlock.leases.lost", "lease", "partition:a/feed")).isEqualTo(1);
        assertThat(counted("rowlock.parts.abandoned", "partitions", "a/feed")).isEqualTo(1);
        assertThat(counted("rowlock.leader.sessions.lost", "leader", "scheduler"))
                .isEqualTo(1);

        TestRowlock rowlock = TestRowlock.fresh(schema);
        new LeaseMetrics(rowlock.rowlock().leases(), Tags.of("db", "orders")).bindTo(registry);
        Lease lease = rowlock.rowlock().leases().tryTake("billing").orElseThrow();
        assertThat(registry.get("rowlock.leases.held").gauge().value()).isEqualTo(1);
        assertThat(registry.get("rowlock.leases.up").gauge().value()).isEqualTo(1);
        assertThat(registry.get("rowlock.leases.loops.failing").gauge().value()).isZero();
        lease.release();
        assertThat(registry.get("rowlock.leases.held").gauge().value()).isZero();
        rowlock.rowlock().leases().stop(Duration.ZERO);
    }

    private double counted(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    @Test
    void jobs_are_counted_and_timed_by_queue_and_kind_and_what_became_of_them() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema, builder -> builder.listener(metrics));
        AtomicInteger snoozed = new AtomicInteger();
        rowlock.enqueueAll(List.of(new Mail(1), new Mail(2), new Mail(3), new Mail(4)));
        rowlock.enqueue(new Mail(5), job -> job.dedupKey("a"));
        rowlock.enqueue(new Mail(6), job -> job.dedupKey("a"));
        try (Worker worker = rowlock.work(w -> w.handle(
                Mail.class,
                (mail, job) -> {
                    if (mail.no() == 2) {
                        throw new PermanentFailure("no");
                    }
                    if (mail.no() == 3 && job.attempt() == 1) {
                        throw new IllegalStateException("again");
                    }
                    if (mail.no() == 4 && snoozed.getAndIncrement() == 0) {
                        throw new Snooze(Duration.ZERO);
                    }
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(3))))) {
            rowlock.awaitAllEnded();
            soon().until(() -> worker.health().unrecorded() == 0
                    && rowlock.events(JobCompleted.class).size() == 4);
        }

        assertThat(count("rowlock.job.enqueued", "duplicate", "false")).isEqualTo(5);
        assertThat(count("rowlock.job.enqueued", "duplicate", "true")).isEqualTo(1);
        assertThat(count("rowlock.job.outcomes", "outcome", "completed")).isEqualTo(4);
        assertThat(count("rowlock.job.outcomes", "outcome", "died")).isEqualTo(1);
        assertThat(count("rowlock.job.outcomes", "outcome", "retried")).isEqualTo(1);
        assertThat(count("rowlock.job.outcomes", "outcome", "snoozed")).isEqualTo(1);
        assertThat(count("rowlock.job.outcomes", "outcome", "merged")).isZero();
        assertThat(count("rowlock.job.timeouts")).isZero();
        assertThat(count("rowlock.job.lost")).isZero();
        assertThat(timed("rowlock.job.wait")).isEqualTo(7);
        assertThat(timed("rowlock.job.duration", "result", "returned")).isEqualTo(4);
        assertThat(timed("rowlock.job.duration", "result", "failed")).isEqualTo(2);
        assertThat(timed("rowlock.job.duration", "result", "snoozed")).isEqualTo(1);
        assertThat(registry.get("rowlock.events")
                        .tag("event", "WorkerStarted")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().getTag("db")).isEqualTo("orders"))
                .allSatisfy(meter -> assertThat(meter.getId().getTags())
                        .extracting(tag -> tag.getKey())
                        .isSubsetOf("db", "queue", "kind", "duplicate", "outcome", "result", "event", "loop"));
    }

    @Test
    void rare_events_have_counters_beside_their_warnings() {
        Enqueued job = new Enqueued(1, "mail", "default", Priority.NORMAL, Instant.EPOCH, false, false);
        metrics.on(new LoopFailed("worker-1", "claimer", 1, new IllegalStateException()));
        metrics.on(new NotificationFailed(new IllegalStateException()));
        metrics.on(new ScheduleFired("daily", List.of(job, job)));
        metrics.on(new BulkStatementMet("Order", "UPDATE", Set.of("mail")));

        assertThat(registry.get("rowlock.loop.failures")
                        .tag("loop", "claimer")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("rowlock.notification.failures").counter().count())
                .isEqualTo(1);
        assertThat(registry.get("rowlock.schedule.jobs")
                        .tag("schedule", "daily")
                        .counter()
                        .count())
                .isEqualTo(2);
        assertThat(registry.get("rowlock.events")
                        .tag("event", "BulkStatementMet")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void what_people_do_to_jobs_is_counted_and_the_clock_shows_what_was_found_last() {
        metrics.on(new JobCancelled(1, "default", "mail", "cancelled by ada: x"));
        metrics.on(new JobRevived(1, "default", "mail", "revived by ada: x"));
        metrics.on(new JobRevived(2, "default", "mail", "revived by ada: x"));
        metrics.on(new ClockCompared("w", Duration.ofMillis(250), Duration.ofMillis(1)));

        assertThat(count("rowlock.job.cancelled")).isEqualTo(1);
        assertThat(count("rowlock.job.revived")).isEqualTo(2);
        assertThat(registry.get("rowlock.clock.skew")
                        .tag("db", "orders")
                        .gauge()
                        .value())
                .isEqualTo(0.25);

        metrics.on(new ClockCompared("w", Duration.ofMillis(-500), Duration.ofMillis(1)));
        assertThat(registry.get("rowlock.clock.skew").gauge().value()).isEqualTo(-0.5);
    }

    @Test
    @Tag("P14")
    void kinds_without_end_make_no_meters_without_end() {
        for (int no = 0; no < 3_000; no++) {
            metrics.on(new JobCompleted(no, "default", "kind-" + no, 1));
            metrics.on(new ScheduleFired("schedule-" + no, List.of()));
        }

        assertThat(registry.find("rowlock.job.wait").timers()).hasSize(1_001);
        assertThat(registry.find("rowlock.schedule.jobs").counters()).hasSize(1_001);
        assertThat(registry.get("rowlock.job.outcomes")
                        .tags("queue", "other", "kind", "other", "outcome", "completed")
                        .counter()
                        .count())
                .isEqualTo(2_000);
    }

    @Test
    void workers_health_is_shown_by_gauges() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema, builder -> builder.listener(metrics));
        CountDownLatch end = new CountDownLatch(1);
        Worker worker = rowlock.rowlock().worker(w -> w.handle(Mail.class, (mail, job) -> end.await()));
        new WorkerMetrics("mailer", worker).bindTo(registry);
        assertThat(gauge("up")).isZero();
        assertThat(gauge("claim.age")).isNaN();

        worker.start();
        try {
            rowlock.enqueue(new Mail(1));
            soon().until(() -> gauge("running") == 1);
            assertThat(gauge("up")).isEqualTo(1);
            assertThat(gauge("loops.failing")).isZero();
            assertThat(gauge("unrecorded")).isZero();
            assertThat(gauge("claim.age")).isBetween(0.0, (double) TimeUnit.MINUTES.toSeconds(10));
        } finally {
            end.countDown();
            worker.close();
        }
        assertThat(gauge("up")).isZero();
        assertThat(gauge("running")).isZero();
    }

    private double gauge(String what) {
        return registry.get("rowlock.worker." + what)
                .tag("worker", "mailer")
                .gauge()
                .value();
    }

    /** Such as one that the application has closed, or given a filter that throws. */
    @Test
    @Tag("P10")
    @Tag("B41")
    void registry_that_throws_stops_neither_an_enqueue_nor_a_job() throws Exception {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                throw new IllegalStateException("a broken filter");
            }
        });
        TestRowlock rowlock = TestRowlock.fresh(schema, builder -> builder.listener(metrics));
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            rowlock.enqueueAll(List.of(new Mail(1), new Mail(2)));
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(2);
        assertThat(registry.getMeters()).isEmpty();
    }
}
