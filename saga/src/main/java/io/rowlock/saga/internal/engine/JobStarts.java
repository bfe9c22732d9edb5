package io.rowlock.saga.internal.engine;

import io.rowlock.job.JobContext;
import io.rowlock.job.JobKind;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaStarter;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

/** Starts sagas by jobs of one kind: of each registered name one, under the job's own key, in its transaction. */
final class JobStarts<T> {
    private final JobKind<T> kind;
    private final Starts starts;
    private final List<Start<T>> all = new ArrayList<>();

    JobStarts(JobKind<T> kind, Starts starts) {
        this.kind = kind;
        this.starts = starts;
    }

    @FunctionalInterface
    private interface Start<T> {
        void by(T payload, JobContext job, Connection connection) throws Exception;
    }

    <S> void add(Saga<S> saga, SagaStarter<T, S> starter) {
        all.add((payload, job, connection) -> starts.start(
                connection,
                starts.prepare(
                        saga,
                        SagaKeys.child(job.idempotencyKey(), saga.name()),
                        starter.state().apply(payload),
                        null)));
    }

    void on(WorkerConfig worker) {
        worker.handleTransactionally(kind, (payload, job, connection) -> {
            for (Start<T> each : all) {
                each.by(payload, job, connection);
            }
        });
    }
}
