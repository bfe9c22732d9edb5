package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.CheckedTablesSql;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.RemedySql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Whether dead rows are removed, and what they have left behind. */
final class VacuumCheck implements Check {
    private final CheckupSql sql;
    private final Thresholds thresholds;

    VacuumCheck(CheckupSql sql, Thresholds thresholds) {
        this.sql = sql;
        this.thresholds = thresholds;
    }

    @Override
    public String subject() {
        return "dead rows and bloat";
    }

    @Override
    public String right() {
        return "Every role may read them; ask the owner of the server.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        Map<String, String> settings = sql.settings(connection, List.of("autovacuum", "track_counts"));
        settings.forEach((name, value) -> {
            if (value.equals("off")) {
                findings.add(Symptom.AUTOVACUUM_OFF.seen(
                        "The server runs with " + name + "=off", RemedySql.serverSetting(name, "on")));
            }
        });
        CheckedTablesSql tables = sql.tables();
        List<String> all = JdbcSchema.TABLES;
        TableCheck.add(findings, Symptom.DEAD_ROWS, tables.deadRows(connection, all, thresholds.deadRows()));
        TableCheck.add(findings, Symptom.TABLE_BLOAT, tables.tableBloat(connection, all, thresholds.bloatBytes()));
        TableCheck.add(findings, Symptom.INDEX_BLOAT, tables.indexBloat(connection, all, thresholds.bloatBytes()));
        return findings;
    }
}
