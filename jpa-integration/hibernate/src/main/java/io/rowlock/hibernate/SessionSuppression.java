package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobsSuppressed;
import io.rowlock.jpa.Suppression;
import java.util.Set;
import java.util.TreeSet;
import org.hibernate.Session;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.resource.transaction.spi.TransactionStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the application holds of a suppression: knows the session, whose scope must not. */
final class SessionSuppression implements Suppression {
    private static final Logger LOG = LoggerFactory.getLogger(SessionSuppression.class);

    private final HibernateUnit unit;
    private final SharedSessionContractImplementor session;
    private final String reason;
    private final Set<String> kinds;
    private final Suppressions suppressions;
    private final Suppressions.Open open;

    private SessionSuppression(
            HibernateUnit unit,
            SharedSessionContractImplementor session,
            String reason,
            Set<String> kinds,
            Suppressions suppressions) {
        this.unit = unit;
        this.session = session;
        this.reason = reason;
        this.kinds = kinds;
        this.suppressions = suppressions;
        this.open = suppressions.begin(kinds);
    }

    /** What was changed before has its jobs, so it is flushed first. */
    static SessionSuppression open(
            HibernateUnit unit, SharedSessionContractImplementor session, String reason, Set<String> kinds) {
        Set<String> known = unit.jobs().kindNames();
        Set<String> meant = kinds.isEmpty() ? known : kinds;
        if (!known.containsAll(meant)) {
            Set<String> unknown = new TreeSet<>(meant);
            unknown.removeAll(known);
            throw new InvalidUseException("No entity of the unit makes jobs of the kinds " + unknown
                    + ", so they cannot be suppressed; it makes " + new TreeSet<>(known));
        }
        if (session.isTransactionInProgress()) {
            session.flush();
        } else if (session instanceof Session stateful && stateful.isDirty()) {
            throw new InvalidUseException("The session holds changes from before the suppression, and no transaction is"
                    + " active in which to flush them; their jobs would be lost. Begin a transaction first, or clear"
                    + " the session");
        }
        return new SessionSuppression(unit, session, reason, meant, unit.suppressions(session));
    }

    @Override
    public long count() {
        return open.count();
    }

    @Override
    public void close() {
        try {
            if (mayWrite()) {
                session.flush();
            }
        } finally {
            if (suppressions.end(open) && open.count() > 0) {
                LOG.info("{} jobs of entity changes were left out (reason={}, kinds={})", open.count(), reason, kinds);
                unit.tell(new JobsSuppressed(reason, kinds, open.count()));
            }
        }
    }

    private boolean mayWrite() {
        return session.isTransactionInProgress()
                && session.getTransactionCoordinator()
                                .getTransactionDriverControl()
                                .getStatus()
                        == TransactionStatus.ACTIVE;
    }
}
