package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.internal.engine.Outcome.Completed;
import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.RecordedByHandler;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql;
import io.rowlock.internal.sql.OutcomeSql.Burial;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.internal.sql.OutcomeSql.Retry;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes outcomes under their leases, one statement per sort of outcome, and tells what was written. What did not come
 * back from a statement is asked for again: still ours means merely locked by somebody, else the lease is lost.
 */
final class Recorder {
    private static final Logger LOG = LoggerFactory.getLogger(Recorder.class);
    private static final Duration AFTER_FAILED_HOOK = Duration.ofHours(1);

    private final EngineConnection connection;
    private final OutcomeSql sql;
    private final Deaths deaths;
    private final Events events;
    private final Setting setting;
    private final Set<Long> doubtful = new HashSet<>();

    /** Under which owner outcomes are written, what becomes of completed rows, and who hears that a job is let go or waits again. */
    record Setting(
            String owner,
            boolean deleteCompleted,
            Consumer<LeasedJob> letGo,
            Consumer<Duration> dueAgain,
            LongConsumer waitsAgain) {}

    Recorder(EngineConnection connection, OutcomeSql sql, Deaths deaths, Events events, Setting setting) {
        this.connection = connection;
        this.sql = sql;
        this.deaths = deaths;
        this.events = events;
        this.setting = setting;
    }

    /** A job whose outcome is decided. */
    record Settled(LeasedJob job, Outcome outcome) {
        Grip grip() {
            return job.grip();
        }
    }

    /** Records all; gives those whose rows were locked by others, to be tried again. */
    List<Settled> record(List<Settled> batch) throws SQLException {
        try {
            List<Settled> busy = new ArrayList<>();
            busy.addAll(each(batch, Completed.class, this::complete));
            busy.addAll(each(batch, Retried.class, this::retry));
            busy.addAll(each(batch, RecordedByHandler.class, this::verify));
            busy.addAll(each(batch, PutBack.class, this::putBack));
            busy.addAll(each(batch, Died.class, this::bury));
            return busy;
        } catch (SQLException e) {
            batch.forEach(settled -> doubtful.add(settled.job().id()));
            throw e;
        }
    }

    /** Gives up on an outcome: its job is no longer kept up here. */
    void forget(Settled settled) {
        doubtful.remove(settled.job().id());
        setting.letGo().accept(settled.job());
    }

    @FunctionalInterface
    private interface Write {
        Set<Long> write(Connection connection, List<Settled> jobs) throws SQLException;
    }

    private List<Settled> each(List<Settled> batch, Class<? extends Outcome> sort, Writer writer) throws SQLException {
        List<Settled> jobs = batch.stream()
                .filter(settled -> sort.isInstance(settled.outcome()))
                .toList();
        return jobs.isEmpty() ? List.of() : writer.write(jobs);
    }

    @FunctionalInterface
    private interface Writer {
        List<Settled> write(List<Settled> jobs) throws SQLException;
    }

    private List<Settled> complete(List<Settled> jobs) throws SQLException {
        return write(jobs, (open, all) -> sql.complete(open, setting.owner(), grips(all), setting.deleteCompleted()));
    }

    private List<Settled> retry(List<Settled> jobs) throws SQLException {
        return write(
                jobs,
                (open, all) -> sql.retry(
                        open,
                        setting.owner(),
                        all.stream().map(Recorder::retryOf).toList()));
    }

    private List<Settled> putBack(List<Settled> jobs) throws SQLException {
        return write(
                jobs,
                (open, all) -> sql.putBack(
                        open,
                        setting.owner(),
                        all.stream().map(Recorder::putBackOf).toList()));
    }

    /**
     * The handler's own transaction should have ended the lease. Where it did not, it never committed, whatever the
     * handler returned: the attempt has failed. Also the answer to an error during COMMIT, which tells nothing.
     */
    private List<Settled> verify(List<Settled> jobs) throws SQLException {
        Set<Long> held = connection.call(open -> sql.stillHeld(open, setting.owner(), grips(jobs)));
        List<Settled> failed = new ArrayList<>();
        for (Settled settled : jobs) {
            if (held.contains(settled.job().id())) {
                failed.add(
                        new Settled(
                                settled.job(),
                                Verdicts.onThrow(
                                        settled.job(),
                                        new IllegalStateException(
                                                "the handler returned, but the transaction that completed the job was not committed"))));
            } else {
                recorded(settled);
            }
        }
        return failed.isEmpty() ? List.of() : record(failed);
    }

    private List<Settled> bury(List<Settled> jobs) throws SQLException {
        List<Settled> busy = new ArrayList<>();
        List<Settled> together = new ArrayList<>();
        for (Settled settled : jobs) {
            if (deaths.hooked(settled.job().kind())) {
                busy.addAll(buryAlone(settled));
            } else {
                together.add(settled);
            }
        }
        busy.addAll(together.isEmpty() ? List.of() : buryTogether(together));
        return busy;
    }

    private List<Settled> buryTogether(List<Settled> jobs) throws SQLException {
        Map<Long, Settled> byId = byId(jobs);
        Set<Long> written = connection.inTransaction(open -> {
            Set<Long> buried = sql.bury(
                    open, setting.owner(), jobs.stream().map(Recorder::burialOf).toList());
            List<DyingJob> dying = new ArrayList<>();
            byId.forEach((id, settled) -> {
                if (buried.contains(id)) {
                    dying.add(dying(settled));
                }
            });
            deaths.died(open, dying);
            return buried;
        });
        return rest(jobs, written);
    }

    private List<Settled> buryAlone(Settled settled) throws SQLException {
        try {
            return buryTogether(List.of(settled));
        } catch (Deaths.HookFailedException refused) {
            LOG.error(
                    "A death hook refused; the job comes back in {} (job={}, kind={})",
                    AFTER_FAILED_HOOK,
                    settled.job().id(),
                    settled.job().kind(),
                    refused);
            return record(List.of(
                    new Settled(settled.job(), new Retried(AFTER_FAILED_HOOK, false, Verdicts.failure(refused)))));
        }
    }

    private List<Settled> write(List<Settled> jobs, Write write) throws SQLException {
        return rest(jobs, connection.call(open -> write.write(open, jobs)));
    }

    /** Tells what was written, and finds out about what was not. */
    private List<Settled> rest(List<Settled> jobs, Set<Long> written) throws SQLException {
        List<Settled> missing = new ArrayList<>();
        for (Settled settled : jobs) {
            if (written.contains(settled.job().id())) {
                recorded(settled);
            } else {
                missing.add(settled);
            }
        }
        if (missing.isEmpty()) {
            return missing;
        }
        Set<Long> held = connection.call(open -> sql.stillHeld(open, setting.owner(), grips(missing)));
        List<Settled> busy = new ArrayList<>();
        for (Settled settled : missing) {
            if (held.contains(settled.job().id())) {
                busy.add(settled);
            } else {
                lost(settled);
            }
        }
        return busy;
    }

    private void recorded(Settled settled) {
        forget(settled);
        if (waitsAgain(settled.outcome())) {
            setting.waitsAgain().accept(settled.job().id());
        }
        if (settled.outcome() instanceof Retried retried) {
            setting.dueAgain().accept(retried.delay());
        } else if (settled.outcome() instanceof PutBack back && back.snoozed()) { // handed back is for another worker
            setting.dueAgain().accept(back.delay());
        } else if (settled.outcome() instanceof RecordedByHandler byHandler && byHandler.snoozed() != null) {
            setting.dueAgain().accept(byHandler.snoozed());
        }
        events.tell(eventOf(settled));
    }

    private static boolean waitsAgain(Outcome outcome) {
        return outcome instanceof Retried
                || outcome instanceof PutBack
                || (outcome instanceof RecordedByHandler byHandler && byHandler.snoozed() != null);
    }

    private void lost(Settled settled) {
        LeasedJob job = settled.job();
        boolean mayBeRecorded = doubtful.contains(job.id());
        forget(settled);
        if (mayBeRecorded) {
            LOG.info(
                    "The connection was lost while an outcome was written; it was recorded, or the lease was lost"
                            + " (job={}, kind={}, attempt={})",
                    job.id(),
                    job.kind(),
                    job.row().turn().attempt());
            return;
        }
        LOG.info(
                "Lease lost before the outcome could be recorded; the job runs again elsewhere"
                        + " (job={}, kind={}, attempt={}, worker={})",
                job.id(),
                job.kind(),
                job.row().turn().attempt(),
                setting.owner());
        events.tell(new LeaseLost(job.id(), job.kind(), job.row().turn().attempt()));
    }

    private static RowlockEvent eventOf(Settled settled) {
        LeasedJob job = settled.job();
        int attempt = job.row().turn().attempt();
        if (settled.outcome() instanceof Retried retried) {
            return new JobRetried(
                    job.id(),
                    job.kind(),
                    attempt,
                    retried.delay(),
                    retried.failure().message());
        }
        if (settled.outcome() instanceof Died died) {
            return new JobDied(job.id(), job.kind(), attempt, died.failure().message());
        }
        if (settled.outcome() instanceof PutBack back) {
            return back.snoozed()
                    ? new JobSnoozed(job.id(), job.kind(), back.delay())
                    : new JobHandedBack(job.id(), job.kind());
        }
        if (settled.outcome() instanceof RecordedByHandler byHandler && byHandler.snoozed() != null) {
            return new JobSnoozed(job.id(), job.kind(), byHandler.snoozed());
        }
        return new JobCompleted(job.id(), job.kind(), attempt);
    }

    private static DyingJob dying(Settled settled) {
        return new DyingJob(
                settled.job().id(),
                settled.job().kind(),
                settled.job().row().turn().attempt(),
                failureOf(settled).message());
    }

    private static Retry retryOf(Settled settled) {
        Retried retried = (Retried) settled.outcome();
        return new Retry(settled.grip(), retried.delay(), retried.notBeforeLease(), retried.failure());
    }

    private static OutcomeSql.PutBack putBackOf(Settled settled) {
        return new OutcomeSql.PutBack(settled.grip(), ((PutBack) settled.outcome()).delay());
    }

    private static Burial burialOf(Settled settled) {
        return new Burial(settled.grip(), failureOf(settled));
    }

    private static Failure failureOf(Settled settled) {
        return ((Died) settled.outcome()).failure();
    }

    private static List<Grip> grips(List<Settled> jobs) {
        return jobs.stream().map(Settled::grip).toList();
    }

    private static Map<Long, Settled> byId(List<Settled> jobs) {
        Map<Long, Settled> byId = new LinkedHashMap<>();
        jobs.forEach(settled -> byId.put(settled.job().id(), settled));
        return byId;
    }
}
