package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.CheckupSql.Role;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Who keeps dead rows from being removed: an old transaction, a prepared one, a replication slot. */
final class HorizonCheck implements Check {
    private final CheckupSql sql;
    private final Thresholds thresholds;

    HorizonCheck(CheckupSql sql, Thresholds thresholds) {
        this.sql = sql;
        this.thresholds = thresholds;
    }

    @Override
    public String subject() {
        return "old transactions and slots";
    }

    @Override
    public String right() {
        return "As superuser: GRANT pg_read_all_stats, to the role of the workers.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        TableCheck.add(
                findings,
                Symptom.OLD_TRANSACTION,
                sql.oldTransactions(connection, thresholds.openFor(), thresholds.openForIds()));
        TableCheck.add(findings, Symptom.PREPARED_TRANSACTION, sql.prepared(connection, thresholds.openFor()));
        TableCheck.add(findings, Symptom.SLOT_HOLDS_BACK, sql.slotsThatHoldBack(connection, thresholds.openForIds()));
        TableCheck.add(findings, Symptom.SLOT_INACTIVE, sql.inactiveSlots(connection));
        Role role = sql.role(connection);
        if (!role.seesOthers()) {
            findings.add(Symptom.NOT_CHECKED.seen(
                    "How long transactions of other roles have been open is hidden from this role; only how many"
                            + " transactions have passed since was looked at",
                    "GRANT pg_read_all_stats TO " + role.name() + ";"));
        }
        return findings;
    }
}
