package io.rowlock.internal.alert;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.Alerts;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Kinds;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.sql.AlertBookSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.job.By;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Alerts as rows. */
public final class RowAlerts implements Alerts {
    private static final Logger LOG = LoggerFactory.getLogger(RowAlerts.class);
    private static final int AT_ONCE = 500;
    private static final int LONGEST_PAGE = 1_000;

    private static final String WHO = "Say who does it, and why: by";

    private final AlertBookSql sql;
    private final ConnectionSource connections;
    private final AccessPolicy policy;

    /**
     * Alerts on connections of the data source.
     *
     * @param policy asked before alerts are read or taken over
     * @param kinds whose names filters understand
     */
    public RowAlerts(Names names, ConnectionSource connections, AccessPolicy policy, Kinds kinds) {
        this.sql = new AlertBookSql(names, kinds::namesOf);
        this.connections = connections;
        this.policy = policy;
    }

    @Override
    public Optional<Alert> find(long id) {
        return find(id, AccessPolicy.NOBODY);
    }

    @Override
    public Optional<Alert> find(long id, By by) {
        required(WHO, by);
        Leave.require(policy, Access.of(Action.READ, Target.ALERT, by, String.valueOf(id)));
        return inTransaction("looked up", open -> sql.find(open, id));
    }

    @Override
    public List<Alert> open(AlertFilter filter, @Nullable Long after, int most) {
        return open(filter, after, most, AccessPolicy.NOBODY);
    }

    @Override
    public List<Alert> open(AlertFilter filter, @Nullable Long after, int most, By by) {
        mayRead(filter, most, by);
        return page(filter, after, most);
    }

    @Override
    public List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most) {
        return acknowledged(filter, after, most, AccessPolicy.NOBODY);
    }

    @Override
    public List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most, By by) {
        mayRead(filter, most, by);
        return inTransaction("looked up", open -> sql.acknowledged(open, filter, after, most));
    }

    private void mayRead(AlertFilter filter, int most, By by) {
        required("The filter of alerts", filter);
        required(WHO, by);
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
        Leave.require(policy, many(Action.READ, filter, by));
    }

    private List<Alert> page(AlertFilter filter, @Nullable Long after, int most) {
        return inTransaction("looked up", open -> sql.open(open, filter, after, most));
    }

    private static Access many(Action action, AlertFilter filter, By by) {
        String kind = filter.kind();
        return new Access(action, Target.ALERT, by, "", kind == null ? "" : kind, "", null);
    }

    @Override
    public boolean acknowledge(long id, By by) {
        required(WHO, by);
        Leave.require(policy, Access.of(Action.ACKNOWLEDGE, Target.ALERT, by, String.valueOf(id)));
        boolean acknowledged = acknowledge(List.of(id), by) == 1;
        LOG.info("Acknowledge of an alert: {} (alert={}, by={}): {}", acknowledged, id, by.who(), by.why());
        return acknowledged;
    }

    @Override
    public long acknowledgeAll(AlertFilter filter, By by) {
        required("The filter of alerts", filter);
        required(WHO, by);
        Leave.require(policy, many(Action.ACKNOWLEDGE, filter, by));
        long acknowledged = 0;
        Long below = null;
        List<Alert> page;
        do { // downwards, so that what is raised meanwhile has no end of it
            page = page(filter, below, AT_ONCE);
            if (!page.isEmpty()) {
                acknowledged += acknowledge(page.stream().map(Alert::id).toList(), by);
                below = page.get(page.size() - 1).id();
            }
        } while (page.size() == AT_ONCE);
        LOG.info("Alerts acknowledged (alerts={}, filter={}, by={}): {}", acknowledged, filter, by.who(), by.why());
        return acknowledged;
    }

    private int acknowledge(List<Long> ids, By by) {
        return inTransaction("acknowledged", open -> sql.acknowledge(open, ids, by));
    }

    private static void required(String what, @Nullable Object value) {
        if (value == null) {
            throw new InvalidUseException(what + " must not be null");
        }
    }

    private <T> T inTransaction(String what, OwnTransaction.Work<T> work) {
        try (Connection connection = connections.get()) {
            return OwnTransaction.run(connection, work);
        } catch (SQLException e) {
            throw new DatabaseException("Alerts could not be " + what, e);
        }
    }
}
