package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many sagas have to record at the same time is one commit. */
@PostgresTest
@Timeout(180)
final class GroupCommitIT {
    private static final SagaType<Purchase> NOTHING = SagaType.named("nothing", Purchase.class);
    private static final int SAGAS = 200;
    private static final int STEPS = 5;

    private final StalledCommits commits = new StalledCommits();
    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        commits.letGo();
        scene.close();
    }

    @Test
    void two_hundred_concurrent_sagas_share_the_commits_of_their_records() throws Exception {
        CountDownLatch missing = new CountDownLatch(SAGAS);
        AtomicInteger before = new AtomicInteger();
        SagaDefinition<Purchase> definition = saga -> {
            SagaSteps<Purchase> steps = saga.named("nothing", Purchase.class)
                    .version(1)
                    .step("step-1")
                    .call((purchase, step) -> {
                        before.accumulateAndGet(commits.committed(WatchedConnections.RECORD), Math::max);
                        missing.countDown();
                        missing.await();
                        return purchase;
                    })
                    .noCompensation();
            for (int i = 2; i <= STEPS; i++) {
                steps = steps.step("step-" + i)
                        .call((purchase, step) -> purchase)
                        .noCompensation();
            }
            return steps.build();
        };
        Rowlock watched = Scene.rowlock(scene.schema(), new WatchedConnections(scene.schema()::connect, commits));
        SagaEngine engine = Scene.engine(watched, "default", definition);
        scene.begin(
                engine,
                NOTHING,
                IntStream.range(0, SAGAS)
                        .mapToObj(i -> Purchase.of("saga-" + i, ""))
                        .toArray(Purchase[]::new));
        scene.start(engine, watched, worker -> worker.queue("default", SAGAS));
        scene.awaitAll();

        int records = SAGAS
                * STEPS; // the end of a step and the start of the next are one; so are the last end and the saga's
        int made = commits.committed(WatchedConnections.RECORD) - before.get();
        System.out.printf(
                "%d sagas of %d steps: %d records in %d commits: %.3f commits a step%n",
                SAGAS, STEPS, records, made, made / (double) records);
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_saga WHERE status = 'completed'"))
                .isEqualTo(SAGAS);
        assertThat(made * 10).isLessThan(records);
    }
}
