package io.rowlock.internal.operation;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationBookSql;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationPage;
import io.rowlock.operation.Operations;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Reads the rows that what people do leaves. */
public final class RowOperations implements Operations {
    private static final int LONGEST_PAGE = 1_000;

    private final OperationBookSql sql;
    private final ConnectionSource connections;

    public RowOperations(Names names, ConnectionSource connections) {
        this.sql = new OperationBookSql(names);
        this.connections = connections;
    }

    @Override
    public OperationPage find(OperationFilter filter, @Nullable Long after, int most) {
        if (filter == null) {
            throw new InvalidUseException(
                    "The filter of operations must not be null; OperationFilter.all() asks for all");
        }
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
        try (Connection connection = connections.get()) {
            connection.setAutoCommit(true);
            return sql.page(connection, filter, after, most);
        } catch (SQLException e) {
            throw new DatabaseException("What people did could not be looked up", e);
        }
    }
}
