package io.rowlock.internal.operation;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationBookSql;
import io.rowlock.job.By;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationPage;
import io.rowlock.operation.Operations;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Reads the rows that what people do leaves. */
public final class RowOperations implements Operations {
    private static final int LONGEST_PAGE = 1_000;

    private final OperationBookSql sql;
    private final ConnectionSource connections;
    private final AccessPolicy policy;

    /** @param policy asked before operations are read */
    public RowOperations(Names names, ConnectionSource connections, AccessPolicy policy) {
        this.sql = new OperationBookSql(names);
        this.connections = connections;
        this.policy = policy;
    }

    @Override
    public OperationPage find(OperationFilter filter, @Nullable Long after, int most) {
        return find(filter, after, most, AccessPolicy.NOBODY);
    }

    @Override
    public OperationPage find(OperationFilter filter, @Nullable Long after, int most, By by) {
        if (filter == null) {
            throw new InvalidUseException(
                    "The filter of operations must not be null; OperationFilter.all() asks for all");
        }
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
        if (by == null) {
            throw new InvalidUseException("Say who reads operations, and why: by");
        }
        Leave.require(policy, Access.of(Action.READ, Target.OPERATION, by, ""));
        try (Connection connection = connections.get()) {
            connection.setAutoCommit(true);
            return sql.page(connection, filter, after, most);
        } catch (SQLException e) {
            throw new DatabaseException("What people did could not be looked up", e);
        }
    }
}
