package io.rowlock.internal.lease;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.PartAbandoned;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.lease.Holding;
import java.sql.SQLException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * This process has counted the lease as lost before the row says so, as everywhere: no fence of it passes from then on. The row is
 * given back as by a release, so that a taker waits for transactions that are open under the fence, and gets a new token. If the
 * process dies in between, or the database does not answer, the row runs out by itself, as nobody renews it.
 */
/** Gives up parts whose work has not ended in time, and tells a person. */
final class PartAbandoner {
    private static final Logger LOG = LoggerFactory.getLogger(PartAbandoner.class);

    private final LeaseTaker taker;
    private final AlertSql alerts;
    private final Events events;

    PartAbandoner(LeaseTaker taker, AlertSql alerts, Events events) {
        this.taker = taker;
        this.alerts = alerts;
        this.events = events;
    }

    /** Once it is lost; does nothing unless that was for the sake of its limit. */
    void abandon(PartRun run, String partitions) {
        HeldLease lease = run.lease;
        if (!lease.wasOverLimit()) {
            return;
        }
        String reason = "part " + run.number() + " was given up by " + lease.holder()
                + ", whose task had not ended in time; it may still run there, and its late writes are refused by the fence";
        try {
            List<AlertRaised> raised = taker.inTransaction(open -> {
                boolean freed = taker.sql.release(open, lease.row(), lease.holder(), Holding.End.ABANDONED);
                List<Cause> about = List.of(new Cause(partitions, 0, reason));
                return freed ? alerts.raise(open, AlertCause.PART_ABANDONED, about) : List.of();
            });
            raised.forEach(events::tell);
        } catch (SQLException | RuntimeException e) {
            LOG.info(
                    "The row of a part that is given up could not be freed; it can be taken when its time to live is over"
                            + " (lease={}, token={})",
                    lease.name(),
                    lease.token(),
                    e);
        }
        events.tell(new PartAbandoned(partitions, run.number(), lease.token(), lease.holder()));
    }
}
