package io.rowlock.wake;

import io.rowlock.fixture.TestRowlock.Work;
import io.rowlock.spi.AfterCommit;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A transaction manager as small as one can be: it knows its open transactions and what is to be done after each. */
final class TellingTransactions implements AfterCommit {
    private final TestSchema schema;
    private final Map<Connection, List<Runnable>> open = new ConcurrentHashMap<>();

    TellingTransactions(TestSchema schema) {
        this.schema = schema;
    }

    @Override
    public boolean register(Connection connection, Runnable action) {
        List<Runnable> actions = open.get(connection);
        return actions != null && actions.add(action);
    }

    <T> T commit(Work<T> work) throws Exception {
        return run(work, true);
    }

    <T> T rollBack(Work<T> work) throws Exception {
        return run(work, false);
    }

    /** How much is to be done after the commit of the transaction on this connection. */
    int registered(Connection connection) {
        return open.getOrDefault(connection, List.of()).size();
    }

    private <T> T run(Work<T> work, boolean commit) throws Exception {
        List<Runnable> actions = new ArrayList<>();
        T result;
        try (Connection connection = schema.begin()) {
            open.put(connection, actions);
            try {
                result = work.in(connection);
            } finally {
                open.remove(connection);
            }
            if (!commit) {
                connection.rollback();
                return result;
            }
            connection.commit();
        }
        actions.forEach(Runnable::run);
        return result;
    }
}
