package io.rowlock.internal.alert;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.Alerts;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.AlertBookSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.job.By;
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

    private final AlertBookSql sql;
    private final ConnectionSource connections;

    public RowAlerts(Names names, ConnectionSource connections) {
        this.sql = new AlertBookSql(names);
        this.connections = connections;
    }

    @Override
    public Optional<Alert> find(long id) {
        return inTransaction("looked up", open -> sql.find(open, id));
    }

    @Override
    public List<Alert> open(AlertFilter filter, @Nullable Long after, int most) {
        checkPage(filter, most);
        return inTransaction("looked up", open -> sql.open(open, filter, after, most));
    }

    @Override
    public List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most) {
        checkPage(filter, most);
        return inTransaction("looked up", open -> sql.acknowledged(open, filter, after, most));
    }

    private static void checkPage(AlertFilter filter, int most) {
        required("The filter of alerts", filter);
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
    }

    @Override
    public boolean acknowledge(long id, By by) {
        required("Say who does it, and why: by", by);
        boolean acknowledged = acknowledge(List.of(id), by) == 1;
        LOG.info("Acknowledge of an alert: {} (alert={}, by={}): {}", acknowledged, id, by.who(), by.why());
        return acknowledged;
    }

    @Override
    public long acknowledgeAll(AlertFilter filter, By by) {
        required("The filter of alerts", filter);
        required("Say who does it, and why: by", by);
        long acknowledged = 0;
        Long below = null;
        List<Alert> page;
        do { // downwards, so that what is raised meanwhile has no end of it
            page = open(filter, below, AT_ONCE);
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
