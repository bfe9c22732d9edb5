package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.engine.Failures;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaOutcome.SagaStuck;
import io.rowlock.saga.internal.sql.StuckSql;
import io.rowlock.saga.internal.sql.StuckSql.Stuck;
import io.rowlock.spi.DeathHook;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A saga whose driver becomes a dead letter is stuck, by the same transaction. Listeners hear of it when that is committed. */
final class DriverDeaths {
    private static final int LONGEST_REASON = 2_000;

    private final StuckSql sql;
    private final AlertSql alerts;
    private final RowlockListener listener;

    /** By their drivers; of one whose transaction was rolled back it is written anew by the next death. */
    private final Map<Long, List<RowlockEvent>> untold = new ConcurrentHashMap<>();

    DriverDeaths(StuckSql sql, AlertSql alerts, RowlockListener listener) {
        this.sql = sql;
        this.alerts = alerts;
        this.listener = listener;
    }

    DeathHook hook(Saga<?> saga) {
        return (connection, job) -> {
            String reason = Failures.cut("its driver failed for good: " + job.reason(), LONGEST_REASON);
            Optional<Stuck> stuck = sql.stuck(connection, job.id(), reason);
            if (stuck.isPresent()) {
                List<RowlockEvent> events = new ArrayList<>(alerts.raise(
                        connection,
                        AlertCause.SAGA_STUCK,
                        List.of(new AlertSql.Cause(
                                saga.name(), job.id(), reason, stuck.get().about()))));
                events.add(new SagaStuck(stuck.get().id(), saga.name(), saga.version(), reason));
                untold.put(job.id(), events);
            }
        };
    }

    void happened(RowlockEvent event) {
        List<RowlockEvent> events = event instanceof JobDied died ? untold.remove(died.id()) : null;
        if (events != null) {
            events.forEach(listener::on);
        }
    }
}
