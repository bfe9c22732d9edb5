package io.rowlock.testkit.providers;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManager;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A class of corners: it has a schema with Rowlock's tables and one persistence unit, and begins each test with empty
 * tables. A provider's module may have corners of its own beside the suite's.
 */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(CornerResults.class)
public abstract class ProviderTest {
    /** Deletes all rows, those of Rowlock's jobs alone among its own; much faster than TRUNCATE. */
    private static final String EMPTY = """
            DO $$
            DECLARE
              t text;
            BEGIN
              SET LOCAL session_replication_role = replica; -- no foreign keys
              FOR t IN SELECT tablename FROM pg_tables
                       WHERE schemaname = current_schema() AND tablename NOT LIKE 'rowlock%' LOOP
                EXECUTE format('DELETE FROM %I', t);
              END LOOP;
              DELETE FROM rowlock_job;
            END $$
            """;

    /** The schema of the test class. */
    protected final TestSchema schema;

    /** Its persistence unit. */
    protected final ProviderUnit unit;

    /**
     * Makes the class.
     *
     * @param schema given by JUnit
     * @param entities what the unit consists of
     */
    protected ProviderTest(TestSchema schema, Class<?>... entities) {
        this.schema = schema;
        this.unit = ProviderUnit.on(schema, entities);
    }

    @BeforeAll
    void start() {
        install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws SQLException {
        schema.execute(EMPTY);
    }

    @AfterAll
    void close() {
        unit.close();
    }

    /**
     * Installs Rowlock's tables.
     *
     * @param schema where
     */
    protected static void install(TestSchema schema) {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
    }

    /**
     * Deletes all jobs.
     *
     * @throws SQLException if the database refuses
     */
    protected void forgetJobs() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
    }

    /**
     * Forgets earlier jobs, runs work in a transaction, and tells which changes made jobs.
     *
     * @param work what to do
     * @return as {@link #changes()}
     * @throws SQLException if the database refuses
     */
    protected List<String> changesBy(Consumer<EntityManager> work) throws SQLException {
        forgetJobs();
        unit.commit(work);
        return changes();
    }

    /**
     * The changes told by jobs with the default payload, sorted, as {@code Order 42 UPDATE}.
     *
     * @return a line for each job
     * @throws SQLException if the database refuses
     */
    protected List<String> changes() throws SQLException {
        return schema.list(
                String.class,
                "SELECT concat_ws(' ', payload->>'entity', payload->>'id', payload->>'change') FROM rowlock_job"
                        + " WHERE payload->>'change' IS NOT NULL ORDER BY 1");
    }

    /**
     * The kinds of all jobs, sorted.
     *
     * @return a kind for each job
     * @throws SQLException if the database refuses
     */
    protected List<String> kinds() throws SQLException {
        return schema.list(String.class, "SELECT kind FROM rowlock_job ORDER BY kind");
    }

    /**
     * The attribute {@code text} of all payloads of a kind, in the order the jobs were written.
     *
     * @param kind the kind
     * @return a text for each job
     * @throws SQLException if the database refuses
     */
    protected List<String> texts(String kind) throws SQLException {
        return schema.list(String.class, "SELECT payload->>'text' FROM rowlock_job WHERE kind = ? ORDER BY id", kind);
    }
}
