package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.SagaStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts sagas in their callers' transactions. */
public final class StartSql {
    /*
     * Waits for another transaction that starts one of the same id, or of the same name under the same business key, and
     * then does nothing; in another isolation than READ COMMITTED that would be an error of the server, so nothing is
     * inserted there (promise P15). Index: the primary key, rowlock_saga_holder.
     */
    static final String INSERT = """
            /* rowlock:start-saga */
            INSERT INTO rowlock_saga (id, name, version, business_key, subject, state, deadline, parent, parent_step)
            SELECT $1, $2, $3::integer, $4, $5, $6::json, clock_timestamp() + $7::bigint * interval '1 microsecond', $8, $9
            WHERE current_setting('transaction_isolation') = 'read committed'
            ON CONFLICT DO NOTHING
            """;

    /* No lock. Index: the primary key, rowlock_saga_holder. Rows: at most two; that of the id first. */
    static final String PRESENT = """
            /* rowlock:present-saga */
            SELECT id, name, status, parent, parent_step FROM rowlock_saga WHERE id = $1
            UNION ALL
            SELECT id, name, status, parent, parent_step FROM rowlock_saga
            WHERE name = $2 AND business_key = $3 AND finished_at IS NULL AND id <> $1
            """;

    /* The headers are what all jobs written here get, so the driver's are its saga's. Index: the primary keys. */
    static final String DRIVER = """
            /* rowlock:driver-of-saga */
            UPDATE rowlock_saga
            SET driver = $2, (headers, queue) = (SELECT headers, queue FROM rowlock_job WHERE id = $2)
            WHERE id = $1
            """;

    static final String ISOLATION = "/* rowlock:isolation */ SELECT current_setting('transaction_isolation')";

    private final Sql insert;
    private final Sql present;
    private final Sql driver;
    private final Sql isolation;

    public StartSql(Names names) {
        this.insert = new Sql(names, INSERT);
        this.present = new Sql(names, PRESENT);
        this.driver = new Sql(names, DRIVER);
        this.isolation = new Sql(names, ISOLATION);
    }

    /** A saga to start. */
    public record NewSaga(
            String id,
            SagaRow.Origin origin,
            String state,
            @Nullable Duration deadline) {
        /** The same about this, or about what it was if that is null. */
        public NewSaga about(@Nullable String subject) {
            SagaRow.Origin about = new SagaRow.Origin(
                    origin.name(),
                    origin.version(),
                    origin.businessKey(),
                    subject == null ? origin.subject() : subject,
                    origin.headers(),
                    origin.parent());
            return subject == null ? this : new NewSaga(id, about, state, deadline);
        }
    }

    /** One that is there. */
    public record Present(String id, String name, SagaStatus status, SagaRow.@Nullable Parent parent) {}

    /** False if there is one of the id, or one that holds the business key. */
    public boolean insert(Connection connection, NewSaga saga) throws SQLException {
        SagaRow.Origin origin = saga.origin();
        SagaRow.Parent parent = origin.parent();
        return insert.update(
                        connection,
                        saga.id(),
                        origin.name(),
                        origin.version(),
                        origin.businessKey(),
                        origin.subject(),
                        saga.state(),
                        saga.deadline() == null ? null : Sql.micros(saga.deadline()),
                        parent == null ? null : parent.saga(),
                        parent == null ? null : parent.step())
                == 1;
    }

    /** The one of the id, or else the one that holds the business key. */
    public Optional<Present> present(Connection connection, NewSaga saga) throws SQLException {
        List<Present> rows = present.query(
                connection,
                row -> new Present(
                        row.getString("id"),
                        row.getString("name"),
                        Words.read(SagaStatus.class, row.getString("status")),
                        LoadSql.parent(row)),
                saga.id(),
                saga.origin().name(),
                saga.origin().businessKey());
        return rows.stream().findFirst();
    }

    public void driver(Connection connection, String saga, long job) throws SQLException {
        driver.update(connection, saga, job);
    }

    public boolean readCommitted(Connection connection) throws SQLException {
        return isolation.query(connection, row -> row.getString(1)).contains("read committed");
    }
}
