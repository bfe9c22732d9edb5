package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.postgres.PlannedCut;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The connection of a transactional handler is cut at each of its statements. */
@PostgresTest
@Tag("P4")
@Timeout(180)
final class TransactionCutIT {
    private final TestSchema schema;
    private Scene scene;
    private TcpProxy proxy;

    TransactionCutIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
        proxy = TcpProxy.to(schema.server());
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
        proxy.close();
    }

    @ParameterizedTest
    @CsvSource({
        "rowlock:lock-one, false, 2",
        "rowlock:lock-one, true, 2",
        "INSERT INTO effect, false, 2",
        "INSERT INTO effect, true, 2",
        "rowlock:complete-one, false, 2",
        "rowlock:complete-one, true, 2",
        "COMMIT, false, 2",
        "COMMIT, true, 1"
    })
    void effect_and_completion_agree_wherever_the_connection_is_cut(String statement, boolean after, int attempts)
            throws Exception {
        PlannedCut cut = after ? proxy.cutAfter(statement) : proxy.cutBefore(statement);
        long job = scene.enqueue(new Booking("a"));
        start(Duration.ofHours(1));
        cut.awaitFired(Scene.SOON);
        scene.awaitState(job, "completed");
        assertThat(schema.count("SELECT count(*) FROM effect WHERE job_id = ?", job))
                .isOne();
        assertThat(scene.number(job, "attempts")).isEqualTo(attempts);
        assertThat(scene.number(job, "losses")).isZero();
        assertThat(scene.failures(job)).hasSize(attempts - 1);
        assertThat(scene.alerts()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"rowlock:delete-one, false", "rowlock:delete-one, true", "COMMIT, false", "COMMIT, true"})
    void job_that_is_deleted_when_done_has_its_effect_once_wherever_the_connection_is_cut(
            String statement, boolean after) throws Exception {
        PlannedCut cut = after ? proxy.cutAfter(statement) : proxy.cutBefore(statement);
        List<Long> jobs = scene.enqueueAll(List.of(new Booking("a"), new Booking("b"), new Booking("c")));
        start(Duration.ZERO);
        cut.awaitFired(Scene.SOON);
        scene.awaitAllDone();
        assertThat(scene.count("true")).isZero();
        assertThat(schema.list(Long.class, "SELECT job_id FROM effect ORDER BY job_id"))
                .isEqualTo(jobs);
    }

    private void start(Duration keepCompleted) {
        scene.start(
                scene.rowlock(proxy.dataSource(schema)::getConnection),
                worker -> worker.lease(Scene.LEASE)
                        .keepCompleted(keepCompleted)
                        .handleTransactionally(
                                Booking.class, Booking.handler("worker"), options -> options.retry(Scene.AT_ONCE)));
    }
}
