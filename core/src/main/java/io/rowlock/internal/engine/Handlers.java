package io.rowlock.internal.engine;

import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.outbox.CurrentJob;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OneJobSql;
import io.rowlock.internal.sql.OneJobSql.Holder;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.worker.HandlerBinding;
import io.rowlock.worker.HandlerBinding.Leased;
import io.rowlock.worker.HandlerBinding.Transactional;
import io.rowlock.worker.HandlerBinding.TransactionalJdbc;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads a job's payload and calls its handler, by the contract the handler was registered with. */
final class Handlers {
    private static final Logger LOG = LoggerFactory.getLogger(Handlers.class);

    private final Names tables;
    private final Payloads payloads;
    private final Interceptors interceptors;
    private final OneJobSql sql;
    private final KeySql keys;
    private final TransactionRunner<Connection> jdbc;
    private final Identity identity;

    Handlers(Ground ground, EngineSql sql, TransactionRunner<Connection> jdbc, Identity identity) {
        this.tables = ground.names();
        this.payloads = new Payloads(ground.codec());
        this.interceptors = new Interceptors(ground.interceptors());
        this.sql = sql.oneJob();
        this.keys = sql.keys();
        this.jdbc = jdbc;
        this.identity = identity;
    }

    /** Runs the attempt; what it returns or throws decides the outcome. An unreadable payload is the job's own failure. */
    Outcome run(LeasedJob job) throws Exception {
        LogContext log = LogContext.enter(job, identity.owner());
        CurrentJob current = CurrentJob.enter(
                tables, job.kind(), job.id(), job.row().contents().headers());
        try {
            JobRun run = new JobRun(job, identity, sql, keys);
            interceptors.around(run, () -> handle(job, run, job.binding()));
            return job.binding().contract() instanceof Leased && !run.recorded()
                    ? new Outcome.Completed()
                    : new Outcome.RecordedByHandler(run.snoozed(), null);
        } finally {
            current.close();
            log.close();
        }
    }

    private <T> void handle(LeasedJob job, JobRun run, HandlerBinding<T> binding) throws Exception {
        T payload = payloads.read(job.row().contents(), binding);
        if (binding.contract() instanceof Leased<T> leased) {
            leased.handler().handle(payload, run);
        } else if (binding.contract() instanceof Transactional<T, ?> transactional) {
            inTransaction(job, run, payload, transactional);
        } else if (binding.contract() instanceof TransactionalJdbc<T> plain) {
            inTransaction(job, run, payload, jdbc, plain.handler());
        }
    }

    private <T, R> void inTransaction(LeasedJob job, JobRun run, T payload, Transactional<T, R> contract)
            throws Exception {
        inTransaction(job, run, payload, contract.runner(), contract.handler());
    }

    private <T, R> void inTransaction(
            LeasedJob job, JobRun run, T payload, TransactionRunner<R> runner, TransactionalJobHandler<T, R> handler)
            throws Exception {
        try {
            runner.run(work(job, run, payload, handler));
        } catch (Throwable thrown) {
            if (committedAnyway(job, run)) {
                PermanentFailure ended = run.ended();
                ended.addSuppressed(thrown);
                throw ended;
            }
            throw thrown;
        }
    }

    /**
     * Whether the handler committed on its own before it threw: what it wrote would be written again by each further
     * attempt. Asked on another connection, for the handler's is gone, and only where something went wrong.
     */
    private boolean committedAnyway(LeasedJob job, JobRun run) {
        Holder holder = run.holder();
        if (holder == null || run.recorded() || job.cancelled()) {
            return false;
        }
        boolean[] committed = new boolean[1];
        try {
            jdbc.run(new TransactionRunner.Work<Connection>() {
                @Override
                public void begun(Connection connection) throws SQLException {
                    committed[0] = sql.committed(connection, holder);
                }

                @Override
                public void handle(Connection nothing) {}

                @Override
                public void completing(Connection nothing) {}
            });
        } catch (Exception unknown) {
            LOG.debug("Whether a failed handler had committed could not be asked (job={})", job.id(), unknown);
        }
        return committed[0];
    }

    private static <T, R> TransactionRunner.Work<R> work(
            LeasedJob job, JobRun run, T payload, TransactionalJobHandler<T, R> handler) {
        return new TransactionRunner.Work<R>() {
            @Override
            public void begun(Connection connection) {
                job.inTransaction(connection);
                run.begin(connection);
            }

            @Override
            public void handle(R resource) throws Exception {
                handler.handle(payload, run, resource);
            }

            @Override
            public void completing(Connection connection) throws SQLException {
                run.end(connection);
                job.inTransaction(null); // what follows is the commit, and then the connection is the pool's again
            }
        };
    }
}
