package io.rowlock.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.DeathHook;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What belongs to every death, in its own transaction: the kind's hook, then the alert as the last statement. */
final class Deaths {
    private final AlertSql sql;
    private final CancelRequestSql cancelRequests;
    private final Events events;
    private final Map<String, DeathHook> hooks = new HashMap<>();

    Deaths(EngineSql sql, Lanes lanes, Events events) {
        this.sql = sql.alerts();
        this.cancelRequests = sql.cancelRequests();
        this.events = events;
        for (Lanes.Lane lane : lanes.all()) {
            DeathHook hook = lane.binding().settings().deathHook();
            if (hook != null) {
                hooks.put(lane.key().kind(), hook);
            }
        }
    }

    /** Which of the jobs are not to die, as their cancel was asked for. */
    Set<Long> spared(Connection connection, Collection<Long> dying) throws SQLException {
        return cancelRequests.asked(connection, dying);
    }

    /** Whether jobs of the kind must die one by one, as their hook may refuse. */
    boolean hooked(String kind) {
        return hooks.containsKey(kind);
    }

    /**
     * Calls hooks and raises alerts for jobs that were made dead in this transaction.
     *
     * @param blocking those of them that hold back the followers of their ordering keys
     * @param raised gets the alerts that were made, for {@link #tell} when the transaction is committed
     */
    void died(Connection connection, List<DyingJob> dying, Collection<Long> blocking, List<AlertRaised> raised)
            throws SQLException {
        for (DyingJob job : dying) {
            call(hooks.get(job.kind()), connection, job);
        }
        raised.addAll(raise(
                connection,
                AlertCause.HEAD_DEAD,
                dying.stream().filter(job -> blocking.contains(job.id())).toList()));
        raised.addAll(raise(connection, AlertCause.JOB_DEAD, dying));
    }

    /** Tells of alerts whose transaction is committed. */
    void tell(List<AlertRaised> raised) {
        raised.forEach(events::tell);
    }

    /** A hook may have broken the transaction without a word: then it is the hook that failed, and not the database. */
    private List<AlertRaised> raise(Connection connection, AlertCause cause, List<DyingJob> dying) throws SQLException {
        if (dying.isEmpty()) {
            return List.of();
        }
        try {
            return sql.raise(
                    connection,
                    cause,
                    dying.stream()
                            .map(job -> new Cause(job.kind(), job.id(), job.reason(), null))
                            .toList());
        } catch (SQLException e) {
            if (SqlState.transactionFailed(e) && dying.stream().anyMatch(job -> hooked(job.kind()))) {
                throw new HookFailedException(e);
            }
            throw e;
        }
    }

    private static void call(@Nullable DeathHook hook, Connection connection, DyingJob job) throws SQLException {
        if (hook == null) {
            return;
        }
        try {
            hook.dying(connection, job);
        } catch (Throwable thrown) {
            throw new HookFailedException(thrown);
        }
    }

    /** A hook refused a death: its transaction is rolled back. */
    static final class HookFailedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        HookFailedException(Throwable cause) {
            super("The death hook threw: " + Described.text(cause), cause);
        }
    }
}
