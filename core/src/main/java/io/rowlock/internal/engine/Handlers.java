package io.rowlock.internal.engine;

import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.OneJobSql;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.worker.HandlerBinding;
import io.rowlock.worker.HandlerBinding.Leased;
import io.rowlock.worker.HandlerBinding.Transactional;
import io.rowlock.worker.HandlerBinding.TransactionalJdbc;
import java.sql.Connection;

/** Reads a job's payload and calls its handler, by the contract the handler was registered with. */
final class Handlers {
    private final PayloadCodec codec;
    private final OneJobSql sql;
    private final KeySql keys;
    private final TransactionRunner<Connection> jdbc;
    private final Identity identity;

    Handlers(PayloadCodec codec, EngineSql sql, TransactionRunner<Connection> jdbc, Identity identity) {
        this.codec = codec;
        this.sql = sql.oneJob();
        this.keys = sql.keys();
        this.jdbc = jdbc;
        this.identity = identity;
    }

    /** Runs the attempt; what it returns or throws decides the outcome. An unreadable payload is the job's own failure. */
    Outcome run(LeasedJob job) throws Exception {
        return run(job, job.binding());
    }

    private <T> Outcome run(LeasedJob job, HandlerBinding<T> binding) throws Exception {
        T payload = codec.decode(job.row().contents().payload(), binding.kind().payloadType());
        JobRun run = new JobRun(job, identity, sql, keys);
        if (binding.contract() instanceof Leased<T> leased) {
            leased.handler().handle(payload, run);
            return run.recorded() ? new Outcome.RecordedByHandler(run.snoozed()) : new Outcome.Completed();
        }
        if (binding.contract() instanceof Transactional<T, ?> transactional) {
            inTransaction(job, run, payload, transactional);
        } else if (binding.contract() instanceof TransactionalJdbc<T> plain) {
            inTransaction(job, run, payload, jdbc, plain.handler());
        }
        return new Outcome.RecordedByHandler(run.snoozed());
    }

    private <T, R> void inTransaction(LeasedJob job, JobRun run, T payload, Transactional<T, R> contract)
            throws Exception {
        inTransaction(job, run, payload, contract.runner(), contract.handler());
    }

    private <T, R> void inTransaction(
            LeasedJob job, JobRun run, T payload, TransactionRunner<R> runner, TransactionalJobHandler<T, R> handler)
            throws Exception {
        runner.run(new TransactionRunner.Work<R>() {
            @Override
            public void begun(Connection connection) {
                job.inTransaction(connection);
                run.lockIn(connection);
            }

            @Override
            public void handle(R resource) throws Exception {
                handler.handle(payload, run, resource);
            }

            @Override
            public void completing(Connection connection) {
                if (!run.recorded()) {
                    run.completeIn(connection);
                }
                job.inTransaction(null); // what follows is the commit, and then the connection is the pool's again
            }
        });
    }
}
