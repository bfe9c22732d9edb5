package io.rowlock.internal.engine;

import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.worker.HandlerBinding;
import io.rowlock.worker.WorkerConfig;
import java.time.Instant;
import java.util.List;

/** Handlers and claimed jobs that never saw a database. */
final class FakeJobs {
    static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");

    private FakeJobs() {}

    /** A handler of a kind, with a limit of its own unless null. */
    static HandlerBinding<?> handler(String kind, Integer concurrency, String... aliases) {
        return binding(kind, RetryPolicy.standard(), concurrency, aliases);
    }

    static ClaimedRow row(String queue, String kind, int priority, Instant runAt) {
        return row(new ClaimedRow.Lane(queue, kind, priority), runAt, new ClaimedRow.Turn(1, 1, 0, null));
    }

    static LeasedJob job(RetryPolicy policy, int attempt, Integer maxAttempts, int losses) {
        ClaimedRow row = row(
                new ClaimedRow.Lane("default", "mail", 1), NOON, new ClaimedRow.Turn(1, attempt, losses, maxAttempts));
        return new LeasedJob(row, binding("mail", policy, null), System.nanoTime());
    }

    static LeasedJob job(String queue, HandlerBinding<?> handler, int losses) {
        ClaimedRow row = row(
                new ClaimedRow.Lane(queue, handler.kind().name(), 1), NOON, new ClaimedRow.Turn(1, 1, losses, null));
        return new LeasedJob(row, handler, System.nanoTime());
    }

    private static ClaimedRow row(ClaimedRow.Lane lane, Instant runAt, ClaimedRow.Turn turn) {
        return new ClaimedRow(lane, 1, null, runAt, runAt, turn, new ClaimedRow.Contents(null, "{}", null, false));
    }

    private static HandlerBinding<?> binding(String kind, RetryPolicy policy, Integer concurrency, String... aliases) {
        JobKind<String> named = new JobKind<>(kind, String.class, List.of(aliases));
        return new WorkerConfig()
                .handle(named, (text, job) -> {}, options -> {
                    options.retry(policy);
                    if (concurrency != null) {
                        options.concurrency(concurrency);
                    }
                })
                .settings()
                .handlers()
                .get(0);
    }
}
