package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.TransactionalCompensationCall;
import io.rowlock.saga.TransactionalStepCall;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transactional steps that end the transaction which records them: told, and never tried again over what they may have done. */
@PostgresTest
@Tag("P4")
final class EndedTransactionIT {
    private static final SagaType<String> TYPE = SagaType.named("ends", String.class);

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private SagaScene scene;

    @AfterEach
    void end() {
        scene.close();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void run(
            TestSchema schema,
            TransactionalStepCall<String, Connection> step,
            TransactionalCompensationCall<String, Connection> undo)
            throws Exception {
        SagaDefinition<String> definition = saga -> saga.named("ends", String.class)
                .version(1)
                .step("a")
                .call((state, step1) -> state + "a")
                .compensate((state, step1) -> done.add("undo a"))
                .step("b")
                .transactional(step)
                .compensateTransactionally(undo)
                .step("c")
                .call((state, step1) -> {
                    throw new PermanentFailure("undo all");
                })
                .noCompensation()
                .build();
        scene = new SagaScene(schema, definition);
        schema.execute("CREATE TABLE IF NOT EXISTS ended_mark (n integer)");
        schema.execute("TRUNCATE ended_mark");
        scene.start();
        scene.begin(TYPE, "1", "");
    }

    @Test
    void a_runner_that_does_not_call_its_work_is_named_as_the_reason(TestSchema schema) throws Exception {
        TransactionRunner<Connection> forgetful = work -> {};
        SagaDefinition<String> definition = saga -> saga.named("ends", String.class)
                .version(1)
                .step("a")
                .transactional(forgetful, (state, step, connection) -> state)
                .noCompensation()
                .retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2))
                .build();
        scene = new SagaScene(schema, definition);
        scene.start();
        scene.begin(TYPE, "1", "");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(scene.one("SELECT error FROM rowlock_saga_step"))
                .contains("the transaction runner returned and had not begun the work");
        assertThat(scene.one("SELECT attempts::text FROM rowlock_saga_step")).isEqualTo("2");
    }

    @Test
    void a_step_that_commits_by_sql_is_told_and_undone(TestSchema schema) throws Exception {
        run(
                schema,
                (state, step, connection) -> {
                    done.add("b");
                    execute(connection, "INSERT INTO ended_mark VALUES (1)");
                    execute(connection, "COMMIT");
                    return state + "b";
                },
                (state, step, connection) -> {
                    done.add("undo b");
                    execute(connection, "DELETE FROM ended_mark");
                });
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).containsExactly("b", "undo b", "undo a");
        assertThat(schema.list(Integer.class, "SELECT n FROM ended_mark")).isEmpty();
        assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE step = 'b'"))
                .contains("ended the transaction");
    }

    @Test
    void a_compensation_that_commits_by_sql_waits_for_a_person(TestSchema schema) throws Exception {
        run(schema, (state, step, connection) -> state + "b", (state, step, connection) -> {
            done.add("undo b");
            execute(connection, "COMMIT");
        });
        scene.await("1", SagaStatus.COMPENSATION_FAILED);
        assertThat(done).containsExactly("undo b");
        assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE step = 'b'"))
                .contains("ended the transaction");
    }

    @Test
    void a_step_that_commits_by_the_connection_is_refused_and_rolled_back(TestSchema schema) throws Exception {
        run(
                schema,
                (state, step, connection) -> {
                    if (step.attempt() == 1) {
                        execute(connection, "INSERT INTO ended_mark VALUES (1)");
                        connection.commit();
                    }
                    return state + "b";
                },
                (state, step, connection) -> done.add("undo b"));
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(schema.list(Integer.class, "SELECT n FROM ended_mark")).isEmpty();
    }
}
