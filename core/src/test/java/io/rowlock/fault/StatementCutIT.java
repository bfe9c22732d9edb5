package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fault.Task.End;
import io.rowlock.testkit.postgres.PlannedCut;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine's connection is cut at each statement of its protocol, while jobs with all sorts of outcomes run. */
@PostgresTest
@Tag("P2")
@Tag("P10")
@Timeout(180)
final class StatementCutIT {
    private static final int EACH = 20;

    private final TestSchema schema;
    private Scene scene;
    private TcpProxy proxy;

    StatementCutIT(TestSchema schema) {
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

    /** Statements that are cut in one run. COMMIT is that of a death or a rescue. */
    enum Group {
        CLAIM,
        SWEEP,
        FAILURE,
        DELETE;

        private List<String> statements() {
            return switch (this) {
                case CLAIM -> List.of("rowlock:claim */", "rowlock:complete */", "rowlock:heartbeat */");
                case SWEEP ->
                    List.of(
                            "rowlock:walk */",
                            "rowlock:walk-suspects */",
                            "rowlock:rescue */",
                            "rowlock:claim-found */");
                case FAILURE ->
                    List.of(
                            "rowlock:retry */",
                            "rowlock:put-back */",
                            "rowlock:bury */",
                            "rowlock:raise-alert */",
                            "COMMIT");
                case DELETE -> List.of("rowlock:complete-and-delete */");
            };
        }

        List<PlannedCut> plan(TcpProxy proxy, boolean after) {
            return statements().stream()
                    .map(statement -> after ? proxy.cutAfter(statement) : proxy.cutBefore(statement))
                    .toList();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "CLAIM, false", "CLAIM, true", "SWEEP, false", "SWEEP, true",
        "FAILURE, false", "FAILURE, true", "DELETE, false", "DELETE, true"
    })
    void every_job_ends_once_wherever_the_connection_is_cut(Group group, boolean after) throws Exception {
        List<Long> jobs = enqueueMixed();
        List<PlannedCut> cuts = group.plan(proxy, after);
        Deeds handler = scene.deeds("worker");
        Worker worker = start(handler, group == Group.DELETE ? Duration.ZERO : Duration.ofHours(1));
        patiently().until(() -> cuts.stream().filter(cut -> !cut.hasFired()).toList(), List::isEmpty);
        handler.openAll();
        scene.awaitAllDone();
        assertEnds(jobs, group == Group.DELETE);
        patiently().until(() -> worker.health().up());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void question_who_holds_a_locked_row_may_be_cut_too(boolean after) throws Exception {
        Deeds handler = scene.deeds("worker");
        List<Long> jobs = scene.enqueueAll(List.of(Task.waiting("a"), Task.waiting("b")));
        start(handler, Duration.ofHours(1));
        scene.awaitStart("a", "worker");
        scene.awaitStart("b", "worker");
        try (Connection somebody = schema.begin();
                Statement lock = somebody.createStatement()) {
            lock.execute("SELECT id FROM rowlock_job WHERE id = " + jobs.get(0) + " FOR UPDATE");
            PlannedCut cut = after ? proxy.cutAfter("rowlock:still-held */") : proxy.cutBefore("rowlock:still-held */");
            handler.openAll();
            cut.awaitFired(Scene.SOON);
            somebody.rollback();
        }
        scene.awaitAllDone();
        assertThat(scene.count("state = 'completed'")).isEqualTo(2);
        assertThat(scene.count("id = " + jobs.get(1) + " AND attempts = 1")).isOne();
    }

    private List<Long> enqueueMixed() throws SQLException {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            tasks.add(Task.quick("returns"));
            tasks.add(Task.quick("throws once").then(End.THROW, 1));
            tasks.add(Task.quick("snoozes once").then(End.SNOOZE, 1));
            tasks.add(Task.quick("fails").then(End.FAIL_FOR_GOOD));
            tasks.add(Task.quick("lost"));
        }
        tasks.add(Task.waiting("long"));
        List<Long> jobs = scene.enqueueAll(tasks);
        schema.update("UPDATE rowlock_job SET locked_by = 'gone', locked_until = clock_timestamp(), token = 1,"
                + " attempts = 1, max_attempts = CASE WHEN id % 2 = 0 THEN 1 END WHERE payload ->> 'name' = 'lost'");
        return jobs;
    }

    private Worker start(Deeds handler, Duration keepCompleted) {
        return scene.start(
                scene.rowlock(proxy.dataSource(schema)::getConnection),
                worker -> worker.lease(Scene.LEASE)
                        .keepCompleted(keepCompleted)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE)));
    }

    /** Each attempt of a job has ended in a recorded failure, except the one that completed it. */
    private void assertEnds(List<Long> jobs, boolean deleted) throws SQLException {
        assertThat(scene.count("payload ->> 'name' = 'fails' AND state = 'dead'"))
                .isEqualTo(EACH);
        assertThat(scene.count("payload ->> 'name' = 'lost' AND state = 'dead'"))
                .isEqualTo(EACH / 2);
        assertThat(scene.count("state = 'completed'")).isEqualTo(deleted ? 0 : jobs.size() - EACH - EACH / 2);
        assertThat(scene.count("true")).isEqualTo(deleted ? EACH + EACH / 2 : jobs.size());
        assertThat(schema.list(
                        Long.class, "SELECT DISTINCT job_id FROM ended UNION SELECT id FROM rowlock_job ORDER BY 1"))
                .isEqualTo(jobs);
        assertThat(scene.count("locked_by IS NOT NULL")).isZero();
        assertThat(scene.count(
                        "attempts <> (SELECT count(*) FROM rowlock_job_failure f WHERE f.job_id = rowlock_job.id)"
                                + " + CASE state WHEN 'completed' THEN 1 ELSE 0 END"))
                .isZero();
        assertThat(scene.count("losses <> (SELECT count(*) FROM rowlock_job_failure f WHERE f.job_id = rowlock_job.id"
                        + " AND error_class = 'worker lost')"))
                .isZero();
        assertThat(scene.alerts()).isEqualTo(EACH + EACH / 2);
    }
}
