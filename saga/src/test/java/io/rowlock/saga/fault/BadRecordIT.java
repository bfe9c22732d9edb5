package io.rowlock.saga.fault;

import static io.rowlock.saga.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Of many sagas that are recorded in one commit the database refuses one. */
@PostgresTest
@Tag("P4")
@Timeout(180)
final class BadRecordIT {
    private static final SagaType<Purchase> TRIP = SagaType.named("trip", Purchase.class);
    private static final List<String> GOOD =
            IntStream.range(0, 15).mapToObj(i -> "good-" + i).toList();

    private final StalledCommits commits = new StalledCommits();
    private final Gates gates = new Gates();
    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        commits.letGo();
        gates.openAll();
        scene.close();
    }

    @Test
    void the_others_are_recorded_and_that_one_is_tried_again_and_ends_stuck() throws Exception {
        SagaDefinition<Purchase> definition = saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .noCompensation()
                .step("b")
                .call(gates::call)
                .noCompensation()
                .build();
        List<String> gathered = Stream.concat(Stream.of("bad"), GOOD.stream()).toList();
        List<String> all = Stream.concat(Stream.of("first"), gathered.stream()).toList();
        all.forEach(saga -> gates.shut(saga + " a"));
        all.forEach(saga -> gates.shut(saga + " b"));
        Rowlock watched = Scene.rowlock(scene.schema(), new WatchedConnections(scene.schema()::connect, commits));
        SagaEngine engine = Scene.engine(watched, "default", definition);
        scene.start(engine, watched, worker -> worker.queue("default", 30));
        scene.begin(engine, TRIP, all.stream().map(id -> Purchase.of(id, "")).toArray(Purchase[]::new));
        all.forEach(saga -> gates.awaitBegun(saga + " a"));
        refuseStepsOf("bad");

        commits.stall(WatchedConnections.RECORD);
        gates.open("first a");
        commits.awaitStalled();
        gathered.forEach(saga -> gates.open(saga + " a"));
        patiently().until(() -> recording() == all.size());
        int before = commits.committed(WatchedConnections.RECORD);
        commits.letGo();
        all.stream().filter(saga -> !saga.equals("bad")).forEach(saga -> gates.awaitBegun(saga + " b"));
        assertThat(commits.committed(WatchedConnections.RECORD) - before)
                .as("commits for %d sagas", all.size())
                .isLessThanOrEqualTo(6);

        gates.openAll();
        patiently().until(() -> finished() == all.size() - 1);
        patiently().until(() -> {
            scene.schema()
                    .update(
                            "UPDATE rowlock_job SET run_at = clock_timestamp() WHERE state = 'ready' AND locked_by IS NULL");
            return scene.status("bad").equals("stuck");
        });
        assertThat(gates.begun("bad a")).isOne();
        assertThat(gates.begun("bad b")).isZero();
        assertThat(scene.schema().list(String.class, "SELECT reason FROM rowlock_saga WHERE id = 'bad'"))
                .singleElement()
                .asString()
                .contains("bad is refused");
        assertThat(scene.schema().list(String.class, "SELECT kind FROM rowlock_alert WHERE cause = 'saga stuck'"))
                .containsExactly("trip");
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'"))
                .isZero();
    }

    private long finished() throws SQLException {
        return scene.schema().count("SELECT count(*) FROM rowlock_saga WHERE status = 'completed'");
    }

    /** How many threads have asked for a record and have no answer. */
    private static long recording() {
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().endsWith(".Ledger")
                                && frame.getMethodName().equals("record")))
                .count();
    }

    private void refuseStepsOf(String saga) throws SQLException {
        scene.schema().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                  RAISE EXCEPTION 'a row of saga bad is refused' USING ERRCODE = 'check_violation';
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON rowlock_saga_step
                FOR EACH ROW WHEN (NEW.saga = 'SAGA') EXECUTE FUNCTION refuse();
                """.replace("SAGA", saga));
    }
}
