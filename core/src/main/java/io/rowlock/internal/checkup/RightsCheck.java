package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.Names;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

/** Whether the role may do what Rowlock does, and no more. */
final class RightsCheck implements Check {
    private final CheckupSql sql;
    private final Names names;

    RightsCheck(CheckupSql sql, Names names) {
        this.sql = sql;
        this.names = names;
    }

    @Override
    public String subject() {
        return "the role's rights in schema " + names.schema();
    }

    @Override
    public String right() {
        return "Every role may read them; ask the owner of the server.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        return Stream.concat(
                        sql.tables().missingRights(connection, JdbcSchema.TABLES).stream()
                                .map(sight -> Symptom.RIGHT_MISSING.seen(sight.seen(), sight.cure())),
                        sql.tables().tooManyRights(connection, JdbcSchema.TABLES).stream()
                                .map(sight ->
                                        Symptom.OWNER_ROLE.seen(sight.seen(), new Typed(names).named(sight.cure()))))
                .toList();
    }
}
