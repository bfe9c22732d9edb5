package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fault.Task.End;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers are killed, paused past their leases and redeployed at random, while jobs of all sorts flow. */
@PostgresTest
@Tag("P2")
@Tag("P3")
@Tag("P4")
@Timeout(240)
final class RandomFaultsIT {
    private static final int WORKERS = 3;
    private static final int ROUNDS = 8;
    private static final int EACH = 8;

    private final TestSchema schema;
    private final List<ChildJvm> children = new ArrayList<>();
    private final List<ChildJvm> gone = new ArrayList<>();
    private Scene scene;
    private int launched;

    RandomFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        children.forEach(ChildJvm::close);
        gone.forEach(ChildJvm::close);
        scene.close();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {20261129, 42})
    void every_job_ends_once_and_transactional_effects_are_exactly_once(long seed) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < WORKERS; i++) {
            children.add(launch());
        }
        ChildWorker.awaitStarted(children.get(0));
        for (int round = 0; round < ROUNDS; round++) {
            enqueueSome();
            ChildJvm victim = children.get(random.nextInt(WORKERS));
            switch (random.nextInt(4)) {
                case 0 -> replaceKilled(victim);
                case 1 -> replaceTerminated(victim);
                case 2 -> victim.pause();
                default -> victim.resume();
            }
            awaitSomeDone();
        }
        children.forEach(ChildJvm::resume);
        scene.awaitAllDone();
        assertInvariants();
    }

    private void replaceKilled(ChildJvm victim) {
        victim.kill();
        replace(victim);
    }

    private void replaceTerminated(ChildJvm victim) {
        victim.resume();
        victim.terminate();
        replace(victim);
    }

    private void replace(ChildJvm victim) {
        gone.add(victim);
        children.set(children.indexOf(victim), launch());
    }

    private ChildJvm launch() {
        return ChildWorker.launch(
                schema,
                "worker-" + ++launched,
                options -> options.graceAtExit(Duration.ofMillis(200)).concurrency(4));
    }

    private void enqueueSome() throws SQLException {
        List<Object> payloads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            payloads.add(Task.quick("returns"));
            payloads.add(Task.quick("throws").then(End.THROW, 1));
            payloads.add(Task.quick("fails").then(End.FAIL_FOR_GOOD));
            payloads.add(new Booking("a"));
            payloads.add(new Booking("b"));
        }
        scene.enqueueAll(payloads);
    }

    /** Goes on when half of what was enqueued so far is done. */
    private void awaitSomeDone() {
        Scene.patiently().until(() -> scene.count("state = 'ready'") <= scene.count("state <> 'ready'"));
    }

    private void assertInvariants() throws SQLException {
        int rounds = ROUNDS;
        assertThat(scene.count("true")).isEqualTo(5L * EACH * rounds);
        assertThat(scene.count("kind = 'booking' AND state = 'completed'")).isEqualTo(2L * EACH * rounds);
        assertThat(schema.count("SELECT count(*) FROM effect")).isEqualTo(2L * EACH * rounds);
        assertThat(schema.count("SELECT count(DISTINCT job_id) FROM effect")).isEqualTo(2L * EACH * rounds);
        assertThat(scene.count("payload ->> 'name' = 'fails' AND state = 'dead'"))
                .isEqualTo((long) EACH * rounds);
        assertThat(scene.count(
                        "kind = 'task' AND state = 'completed' AND EXISTS (SELECT FROM ended e WHERE e.job_id = id)"))
                .isEqualTo(2L * EACH * rounds);
        assertThat(scene.count(
                        "attempts <> (SELECT count(*) FROM rowlock_job_failure f WHERE f.job_id = rowlock_job.id)"
                                + " + CASE state WHEN 'completed' THEN 1 ELSE 0 END"))
                .isZero();
        assertThat(scene.count("locked_by IS NOT NULL")).isZero();
        assertThat(scene.alerts()).isEqualTo((long) EACH * rounds);
        assertThat(schema.count(
                        "SELECT count(*) FROM (SELECT job_id, token FROM started GROUP BY 1, 2 HAVING count(*) > 1)"
                                + " AS twice"))
                .isZero();
    }
}
