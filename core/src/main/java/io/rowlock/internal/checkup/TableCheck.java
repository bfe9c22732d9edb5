package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.CheckedTablesSql;
import io.rowlock.internal.sql.CheckedTablesSql.Made;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.CheckupSql.Sight;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What somebody did to the tables that no statement of Rowlock would notice at once. */
final class TableCheck implements Check {
    /** As the numbered resources made them; a test compares. */
    static final List<Made> MADE = List.of(
            new Made("job", "fillfactor", "45"),
            new Made("job", "autovacuum_vacuum_scale_factor", "0.02"),
            new Made("job", "autovacuum_analyze_scale_factor", "0.05"),
            new Made("key", "fillfactor", "70"),
            new Made("key", "autovacuum_vacuum_scale_factor", "0.02"),
            new Made("key", "autovacuum_analyze_scale_factor", "0.05"),
            new Made("limit", "fillfactor", "50"),
            new Made("limit", "autovacuum_vacuum_scale_factor", "0.02"),
            new Made("limit", "autovacuum_analyze_scale_factor", "0.05"),
            new Made("slot", "fillfactor", "50"),
            new Made("slot", "autovacuum_vacuum_scale_factor", "0.02"),
            new Made("slot", "autovacuum_analyze_scale_factor", "0.05"),
            new Made("saga", "fillfactor", "60"),
            new Made("saga_step", "fillfactor", "60"),
            new Made("lease", "fillfactor", "50"),
            new Made("partition_member", "fillfactor", "50"));

    private final CheckupSql sql;

    TableCheck(CheckupSql sql) {
        this.sql = sql;
    }

    @Override
    public String subject() {
        return "triggers, rules and options of the tables";
    }

    @Override
    public String right() {
        return "Every role may read them; ask the owner of the server.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        CheckedTablesSql tables = sql.tables();
        List<String> all = JdbcSchema.TABLES;
        List<Finding> findings = new ArrayList<>();
        add(findings, Symptom.TABLE_UNLOGGED, tables.unlogged(connection, all));
        add(findings, Symptom.FOREIGN_TRIGGER, tables.triggers(connection, all));
        add(findings, Symptom.FOREIGN_RULE, tables.rules(connection, all));
        add(findings, Symptom.ROW_SECURITY, tables.rowSecurity(connection, all));
        add(findings, Symptom.REPLICA_IDENTITY, tables.withoutIdentity(connection, all));
        add(findings, Symptom.AUTOVACUUM_OFF_FOR_TABLE, tables.withoutAutovacuum(connection, all));
        add(findings, Symptom.TABLE_OPTION, tables.otherOptions(connection, all, MADE));
        return findings;
    }

    static void add(List<Finding> findings, Symptom symptom, List<Sight> sights) {
        sights.forEach(sight -> findings.add(symptom.seen(sight.seen(), sight.cure())));
    }
}
