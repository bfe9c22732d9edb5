package io.rowlock.saga.internal.engine;

import io.rowlock.Rowlock;
import io.rowlock.internal.engine.JdbcTransactions;
import io.rowlock.internal.outbox.PreparingOutbox;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.JobKind;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaStarter;
import io.rowlock.saga.Sagas;
import io.rowlock.saga.internal.engine.Housekeeping.Told;
import io.rowlock.saga.internal.sql.KeepingSql;
import io.rowlock.saga.internal.sql.LoadSql;
import io.rowlock.saga.internal.sql.OperateSql;
import io.rowlock.saga.internal.sql.RecordSql;
import io.rowlock.saga.internal.sql.StartSql;
import io.rowlock.saga.internal.sql.StuckSql;
import io.rowlock.saga.internal.sql.WishSql;
import io.rowlock.spi.RowlockParts;
import io.rowlock.worker.WorkerConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The parts of sagas, put together: what applications call, and what a worker handles. */
public final class Engine {

    private final RowlockParts core;
    private final Names names;
    private final Definitions definitions;
    private final Settings settings;
    private final StateCodec codec;
    private final Starts starts;
    private final Wishes wishes;
    private final Sagas sagas;
    private final SagaOperations operations;

    /** What was set. */
    public record Settings(String queue, Duration keepFinished) {}

    public Engine(Rowlock rowlock, Definitions definitions, Settings settings) {
        this.core = rowlock.parts();
        this.names = new Names(core.schema(), core.prefix());
        this.definitions = definitions;
        this.settings = settings;
        this.codec = new StateCodec(core.codec(), core.maxPayloadBytes());
        this.starts = new Starts(new StartSql(names), (PreparingOutbox) rowlock.outbox(), codec, settings.queue());
        Restarts restarts = new Restarts(new OperateSql(names), new LoadSql(names), rowlock.outbox(), settings.queue());
        this.wishes = new Wishes(new WishSql(names), rowlock.outbox(), settings.queue(), core::wake, restarts);
        this.sagas = new RowSagas(core, definitions, starts, wishes, codec);
        this.operations = OperationParts.operations(core, names, definitions, codec, wishes, restarts);
    }

    public SagaOperations operations() {
        return operations;
    }

    public Sagas sagas() {
        return sagas;
    }

    /** Gives a worker its handlers; what they share begins and ends with it. */
    public void on(WorkerConfig worker) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("rowlock-saga-timeouts"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(1, TimeUnit.MINUTES);
        timer.allowCoreThreadTimeOut(true);
        RecordSql records = new RecordSql(names);
        ExecutorService threads = Executors.newCachedThreadPool(daemons("rowlock-saga"));
        Ledger ledger = new Ledger(core.connections(), new LoadSql(names), records, core::wake);
        Parts parts = new Parts(
                ledger,
                records,
                codec,
                new Relations(definitions, starts, wishes, new AlertSql(names), ledger, core.listener(), codec),
                new JdbcTransactions(core.connections()),
                timer,
                threads);
        DriverDeaths deaths = new DriverDeaths(new StuckSql(names), new AlertSql(names), core.listener());
        definitions.all().forEach(saga -> drive(worker, parts, deaths, saga));
        worker.handle(
                Wishes.KIND,
                (wish, job) -> wishes.bring(wish, job, parts.transactions()),
                options -> options.retry(Wishes.RETRY));
        startedByJobs(worker);
        worker.extension(new Housekeeping(
                new KeepingSql(names),
                new AlertSql(names),
                definitions,
                settings.keepFinished(),
                new Told(core.listener(), deaths),
                parts));
    }

    private static ThreadFactory daemons(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    private static <S> void drive(WorkerConfig worker, Parts parts, DriverDeaths deaths, Saga<S> saga) {
        worker.handle(
                Definitions.driverKind(saga.name(), saga.version()),
                new DriverHandler<>(parts, saga),
                options -> options.retry(DriverHandler.RETRY).onDeath(deaths.hook(saga)));
    }

    /** Of each saga the newest version is started, and by a job of a kind all sagas that it starts. */
    private void startedByJobs(WorkerConfig worker) {
        Map<JobKind<?>, JobStarts<?>> byKind = new LinkedHashMap<>();
        for (Saga<?> saga : definitions.newest()) {
            add(byKind, saga);
        }
        byKind.values().forEach(each -> each.on(worker));
    }

    private <S> void add(Map<JobKind<?>, JobStarts<?>> byKind, Saga<S> saga) {
        for (SagaStarter<?, S> starter : saga.starters()) {
            add(byKind, saga, starter);
        }
    }

    @SuppressWarnings("unchecked") // put there under the kind of its payload
    private <S, T> void add(Map<JobKind<?>, JobStarts<?>> byKind, Saga<S> saga, SagaStarter<T, S> starter) {
        JobStarts<T> all =
                (JobStarts<T>) byKind.computeIfAbsent(starter.kind(), kind -> new JobStarts<>(starter.kind(), starts));
        all.add(saga, starter);
    }
}
