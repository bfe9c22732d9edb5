package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes all checks, one after another, each in a read-only transaction of its own that is rolled back, with statements
 * bounded by the server and answers by the network timeout. What one check meets stops no other: a missing right, a lock
 * that somebody holds, a statement that took too long become a remark that says what was not looked at. Only a lost
 * connection ends the round.
 */
public final class RowlockCheckup {
    private static final Logger LOG = LoggerFactory.getLogger(RowlockCheckup.class);
    private static final int STATEMENT_MILLIS = 5_000;
    private static final int LOCK_MILLIS = 1_000;
    private static final int ANSWER_MILLIS = 15_000;

    private final Names names;
    private final ConnectionSource connections;
    private final JdbcSchema schema;
    private final Thresholds thresholds;
    private final Clock clock;

    public RowlockCheckup(
            Names names, ConnectionSource connections, JdbcSchema schema, Thresholds thresholds, Clock clock) {
        this.names = names;
        this.connections = connections;
        this.schema = schema;
        this.thresholds = thresholds;
        this.clock = clock;
    }

    /** The findings, the heaviest first. Kinds are judged by what the workers of this Rowlock do, if there are any. */
    public List<Finding> run(List<Serving> workers) {
        List<Finding> findings = new ArrayList<>();
        try (Connection connection = connections.get()) {
            int networkTimeout = connection.getNetworkTimeout();
            boolean autoCommit = connection.getAutoCommit();
            findings.addAll(DriverCheck.of(connection, networkTimeout));
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            try {
                connection.setAutoCommit(true);
                findings.addAll(new PoolerCheck(connections).look(connection));
                for (Check check : checks(workers)) {
                    findings.addAll(look(check, connection));
                }
            } finally {
                putBack(connection, autoCommit, networkTimeout);
            }
        } catch (SQLException e) {
            findings.add(unreachable(e));
        }
        findings.sort(Comparator.comparing(Finding::severity));
        return List.copyOf(findings);
    }

    /** Throws only where the connection is lost. */
    private static List<Finding> look(Check check, Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        connection.setAutoCommit(false);
        try {
            CheckupSql.begin(connection, STATEMENT_MILLIS, LOCK_MILLIS);
            findings.addAll(check.look(connection));
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                throw e;
            }
            findings.add(notChecked(check, e));
        } catch (RuntimeException e) {
            findings.add(Symptom.NOT_CHECKED.seen(
                    "The check of " + check.subject() + " could not be made: " + e,
                    "Put that right, and run the checkup again."));
        }
        connection.rollback();
        return findings;
    }

    /** What is lost cannot be put back: its pool sees that by itself. */
    private static void putBack(Connection connection, boolean autoCommit, int networkTimeout) {
        try {
            connection.setAutoCommit(autoCommit);
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException e) {
            LOG.debug("A connection could not be put back as it was", e);
        }
    }

    private List<Check> checks(List<Serving> workers) {
        CheckupSql sql = new CheckupSql(names);
        return List.of(
                new ServerCheck(sql, workers.size()),
                new DurabilityCheck(sql),
                new ClockCheck(sql, clock, thresholds.skew()),
                new RightsCheck(sql, names),
                new ShapeCheck(sql, names, schema),
                new TableCheck(sql),
                new VacuumCheck(sql, thresholds),
                new HorizonCheck(sql, thresholds),
                new WaitingCheck(names, workers, thresholds.late()),
                new ScheduleCheck(names));
    }

    private static final Map<String, String> REASONS = Map.of(
            "42501", "the role lacks a right",
            "57014", "it took longer than " + STATEMENT_MILLIS / 1_000 + " s",
            "55P03", "somebody holds a lock on the table",
            "42P01", "a table is missing",
            "42703", "a column is missing");

    private static Finding notChecked(Check check, SQLException e) {
        String state = SqlState.of(e);
        return Symptom.NOT_CHECKED.seen(
                "The check of " + check.subject() + " could not be made: "
                        + REASONS.getOrDefault(state, "the server refused it (SQLSTATE " + state + ")") + " ("
                        + e.getMessage() + ")",
                state.equals("42501") ? check.right() : "Put that right, and run the checkup again.");
    }

    private static Finding unreachable(SQLException e) {
        return Symptom.UNREACHABLE.seen(
                "The database cannot be reached, or the connection was lost in the middle (SQLSTATE " + SqlState.of(e)
                        + "): " + e.getMessage(),
                "Check URL, user and password of the data source, the server, and whether the pool has connections left.");
    }
}
