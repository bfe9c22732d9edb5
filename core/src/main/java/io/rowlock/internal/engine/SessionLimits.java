package io.rowlock.internal.engine;

import io.rowlock.internal.sql.PoolerSql;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SessionSql.Before;
import io.rowlock.internal.sql.SessionSql.Limits;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits of a session of the engine's, and what is to be restored when its connection is given back. Behind a pooler in
 * transaction mode no session is the engine's: a limit set there would end other clients' transactions, and a statement
 * prepared there would be taken for another client's of the same name. So nothing is set there, nothing prepared, and the
 * network timeout alone bounds what is asked.
 */
final class SessionLimits {
    private static final Logger LOG = LoggerFactory.getLogger(SessionLimits.class);

    private final @Nullable Limits before;
    private final @Nullable PgDriver driver;
    private final int prepareThreshold;

    private SessionLimits(@Nullable Limits before, @Nullable PgDriver driver, int prepareThreshold) {
        this.before = before;
        this.driver = driver;
        this.prepareThreshold = prepareThreshold;
    }

    /**
     * Sets limits on a connection that was just got, in autocommit, unless a pooler in transaction mode is in between. A
     * server greets the driver with the process that answers later; where that differs, a second connection tells which
     * kind of pooler it is.
     */
    static SessionLimits set(Connection connection, ConnectionSource source, Limits limits) throws SQLException {
        Optional<PgDriver> driver = PgDriver.of(connection);
        if (driver.isEmpty()) {
            return new SessionLimits(SessionSql.set(connection, limits).limits(), null, 0);
        }
        int greeted = driver.get().backend();
        Before answered = SessionSql.setOn(connection, greeted, limits);
        if (answered.backend() == greeted) {
            return new SessionLimits(answered.limits(), null, 0);
        }
        if (!lendsSessions(connection, source)) {
            return new SessionLimits(SessionSql.set(connection, limits).limits(), null, 0);
        }
        int threshold = driver.get().prepareThreshold();
        driver.get().prepareThreshold(0);
        LOG.warn(
                "A pooler in transaction mode, such as PgBouncer, is between here and the server: sets no limits on sessions"
                        + " and prepares no statements; give workers a data source that leads to the server, or to a pool in session"
                        + " mode, or at least set prepareThreshold=0 for the connections of transactional handlers");
        return new SessionLimits(null, driver.get(), threshold);
    }

    /** If it cannot be found out, it is taken for one: what is not set does no harm. */
    private static boolean lendsSessions(Connection connection, ConnectionSource source) {
        try (Connection second = source.get()) {
            return PoolerSql.ask(connection, second).inTransactionMode();
        } catch (SQLException unknown) {
            LOG.debug("Whether a pooler lends sessions for transactions could not be asked", unknown);
            return true;
        }
    }

    /** Before the connection is given back. */
    void restore(Connection connection) throws SQLException {
        if (before != null) {
            SessionSql.set(connection, before);
        }
        if (driver != null) {
            driver.prepareThreshold(prepareThreshold);
        }
    }
}
