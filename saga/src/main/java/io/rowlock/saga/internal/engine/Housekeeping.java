package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaOutcome.SagaStuck;
import io.rowlock.saga.internal.sql.KeepingSql;
import io.rowlock.saga.internal.sql.KeepingSql.Driven;
import io.rowlock.saga.internal.sql.KeepingSql.Open;
import io.rowlock.saga.internal.sql.KeepingSql.Place;
import io.rowlock.spi.WorkerExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a worker does for sagas beside driving them: names those that nothing moves, deletes old ones, lets go at the end. */
final class Housekeeping implements WorkerExtension {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);
    private static final int MOST = 200;
    private static final int MOST_LOOKED_AT = 1_000;
    private static final String ABANDONED = "the job that drove it was cancelled or is gone; retry it";

    private final KeepingSql sql;
    private final AlertSql alerts;
    private final Definitions definitions;
    private final Duration retention;
    private final Told told;
    private final Parts parts;
    private Place place = Place.START;

    Housekeeping(KeepingSql sql, AlertSql alerts, Definitions definitions, Duration retention, Told told, Parts parts) {
        this.sql = sql;
        this.alerts = alerts;
        this.definitions = definitions;
        this.retention = retention;
        this.told = told;
        this.parts = parts;
    }

    /** Who hears of sagas that are stuck, and who knows of those whose drivers died. */
    record Told(RowlockListener listener, DriverDeaths deaths) {}

    /** Unfinished sagas of a version that is not registered here wait, unless another worker has it. */
    @Override
    public void starting(Connection connection) throws SQLException {
        for (Open open : sql.versions(connection, names())) {
            if (definitions.find(open.name(), open.version()).isEmpty()) {
                String why = open.count() + " unfinished sagas " + open.name() + " have version " + open.version()
                        + ", which is not registered here: they wait until a worker has it";
                LOG.warn("{}; register it too, until they have ended", why);
                alerts.raise(
                                connection,
                                AlertCause.SAGA_VERSION_MISSING,
                                List.of(new AlertSql.Cause(open.name(), 0, why)))
                        .forEach(told.listener()::on);
            }
        }
    }

    @Override
    public boolean housekeeping(Connection connection) throws SQLException {
        boolean morePruned = sql.prune(connection, retention, MOST) == MOST;
        return findAbandoned(connection) || morePruned;
    }

    /** Sagas whose driver somebody has cancelled or deleted: nothing would ever move them (promise P2). */
    private boolean findAbandoned(Connection connection) throws SQLException {
        List<Driven> open = sql.drivers(connection, names(), place, MOST_LOOKED_AT);
        for (Driven saga : open) {
            if (saga.abandoned()) {
                tell(connection, saga.place());
            }
        }
        boolean more = open.size() == MOST_LOOKED_AT;
        place = more ? open.get(open.size() - 1).place() : Place.START;
        return more;
    }

    private void tell(Connection connection, Place saga) throws SQLException {
        Stuck stuck = OwnTransaction.run(connection, open -> abandon(open, saga));
        stuck.raised().forEach(told.listener()::on);
        if (stuck.version() != null) {
            told.listener().on(new SagaStuck(saga.id(), saga.name(), stuck.version(), ABANDONED));
        }
    }

    /** What was written of a saga; no version if it was not abandoned after all. */
    private record Stuck(@Nullable Integer version, List<AlertRaised> raised) {}

    private Stuck abandon(Connection connection, Place saga) throws SQLException {
        Optional<Integer> version = sql.undriven(connection, saga.id(), ABANDONED);
        List<AlertRaised> raised = version.isPresent()
                ? alerts.raise(
                        connection,
                        AlertCause.SAGA_STUCK,
                        List.of(new AlertSql.Cause(saga.name(), 0, "saga " + saga.id() + ": " + ABANDONED)))
                : List.of();
        return new Stuck(version.orElse(null), raised);
    }

    private Set<String> names() {
        return definitions.all().stream().map(Saga::name).collect(Collectors.toSet());
    }

    @Override
    public void happened(RowlockEvent event) {
        told.deaths().happened(event);
    }

    @Override
    public void stopped() {
        parts.timer().shutdownNow();
        parts.crew().shutdownNow();
        parts.ledger().close();
    }
}
