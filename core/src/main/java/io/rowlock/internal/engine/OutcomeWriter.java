package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Outcome.Completed;
import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.RecordedByHandler;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql;
import io.rowlock.internal.sql.OutcomeSql.Burial;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.internal.sql.OutcomeSql.Retry;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Turns settled jobs into statements, one per sort of outcome, each fenced by owner and token; gives what was written. */
final class OutcomeWriter {
    private final OutcomeSql sql;
    private final String owner;
    private final boolean deleteCompleted;

    OutcomeWriter(OutcomeSql sql, String owner, boolean deleteCompleted) {
        this.sql = sql;
        this.owner = owner;
        this.deleteCompleted = deleteCompleted;
    }

    /** Writes those that completed, are tried again, or go back. */
    Set<Long> writeLiving(Connection connection, List<Settled> jobs) throws SQLException {
        Set<Long> written = new HashSet<>();
        List<Settled> completed = of(jobs, Completed.class);
        if (!completed.isEmpty()) {
            written.addAll(sql.complete(connection, owner, grips(completed), deleteCompleted));
        }
        List<Settled> retried = of(jobs, Retried.class);
        if (!retried.isEmpty()) {
            written.addAll(sql.retry(
                    connection,
                    owner,
                    retried.stream().map(OutcomeWriter::retryOf).toList()));
        }
        List<Settled> back = of(jobs, PutBack.class);
        if (!back.isEmpty()) {
            written.addAll(sql.putBack(
                    connection,
                    owner,
                    back.stream().map(OutcomeWriter::putBackOf).toList()));
        }
        return written;
    }

    /** Makes dead letters of those that died; what belongs to a death beside the row is the caller's. */
    Set<Long> bury(Connection connection, List<Settled> dying) throws SQLException {
        return sql.bury(
                connection,
                owner,
                dying.stream()
                        .map(settled -> new Burial(settled.grip(), ((Died) settled.outcome()).failure()))
                        .toList());
    }

    /** What became of a job whose handler says that its own transaction ended the lease. */
    enum Fate {
        /** It did. */
        ENDED,
        /** It did not: the lease is still this worker's. */
        HELD,
        /** It did not, and the lease is lost. */
        LOST
    }

    /** The fate of each job, by its id. */
    Map<Long, Fate> fates(Connection connection, List<Settled> jobs) throws SQLException {
        Map<Long, OutcomeSql.Fate> rows = new HashMap<>();
        for (OutcomeSql.Fate row :
                sql.fates(connection, jobs.stream().map(each -> each.job().id()).toList())) {
            rows.put(row.id(), row);
        }
        Map<Long, Fate> fates = new HashMap<>();
        jobs.forEach(each ->
                fates.put(each.job().id(), fate(each, rows.get(each.job().id()))));
        return fates;
    }

    private Fate fate(Settled settled, OutcomeSql.@Nullable Fate row) {
        if (row == null) {
            return deleteCompleted ? Fate.ENDED : Fate.LOST;
        }
        long token = settled.grip().token();
        if (row.token() == token && owner.equals(row.owner())) {
            return Fate.HELD;
        }
        boolean snoozed = settled.outcome() instanceof RecordedByHandler byHandler && byHandler.snoozed() != null;
        boolean ended = snoozed
                ? row.token() > token
                : row.token() == token && row.state().equals("completed");
        return ended ? Fate.ENDED : Fate.LOST;
    }

    /** Which of the jobs this worker still holds. */
    Set<Long> stillHeld(Connection connection, List<Settled> jobs) throws SQLException {
        return sql.stillHeld(connection, owner, grips(jobs));
    }

    static List<Settled> of(List<Settled> jobs, Class<? extends Outcome> sort) {
        return jobs.stream()
                .filter(settled -> sort.isInstance(settled.outcome()))
                .toList();
    }

    static DyingJob dying(Settled settled) {
        return new DyingJob(
                settled.job().id(),
                settled.job().kind(),
                settled.job().row().turn().attempt(),
                ((Died) settled.outcome()).failure().message());
    }

    private static Retry retryOf(Settled settled) {
        Retried retried = (Retried) settled.outcome();
        return new Retry(settled.grip(), retried.delay(), retried.notBeforeLease(), retried.failure());
    }

    private static OutcomeSql.PutBack putBackOf(Settled settled) {
        return new OutcomeSql.PutBack(settled.grip(), ((PutBack) settled.outcome()).delay());
    }

    private static List<Grip> grips(List<Settled> jobs) {
        return jobs.stream().map(Settled::grip).toList();
    }
}
