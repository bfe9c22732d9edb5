package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** Somebody takes a right away for a while: sagas wait, and nobody has failed. */
@PostgresTest
@Tag("P10")
@Tag("B41")
@Timeout(120)
final class RevokedRightsIT {
    private static final SagaType<String> TYPE = SagaType.named("righted", String.class);
    private static final String ROLE = "saga_rights";

    private final CountDownLatch atWork = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger snoozed = new AtomicInteger();

    private SagaDefinition<String> definition() {
        return saga -> saga.named("righted", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> {
                    calls.incrementAndGet();
                    atWork.countDown();
                    gate.await();
                    return state;
                })
                .noCompensation()
                .build();
    }

    @Test
    void a_saga_that_cannot_be_read_comes_back_without_using_an_attempt(TestSchema schema) throws Exception {
        gate.countDown();
        try (SagaScene scene = new SagaScene(schema, definition())) {
            schema.execute("DO $$ BEGIN CREATE ROLE " + ROLE
                    + " LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$");
            schema.execute("GRANT USAGE ON SCHEMA " + schema.name() + " TO " + ROLE);
            schema.execute("GRANT ALL ON ALL TABLES IN SCHEMA " + schema.name() + " TO " + ROLE);
            schema.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA " + schema.name() + " TO " + ROLE);
            PGSimpleDataSource source = schema.dataSource();
            source.setUser(ROLE);
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(source)
                    .schema(schema.name())
                    .listener(event -> {
                        if (event instanceof JobSnoozed) {
                            snoozed.incrementAndGet();
                        }
                    })
                    .build();
            SagaEngine engine =
                    SagaEngine.builder(rowlock).register(definition()).build();
            try (Worker worker = rowlock.worker(
                    config -> engine.on(config).poll(Duration.ofMillis(20)).lease(Duration.ofSeconds(5)))) {
                worker.start();
                schema.execute("REVOKE ALL ON rowlock_saga, rowlock_saga_step FROM " + ROLE);
                scene.begin(TYPE, "1", "x");
                SagaScene.await(() -> snoozed.get() > 1);
                schema.execute("GRANT ALL ON rowlock_saga, rowlock_saga_step TO " + ROLE);

                scene.await("1", SagaStatus.COMPLETED);
            }
            assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void a_step_that_cannot_be_recorded_is_not_called_again_when_it_can(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, definition())) {
            schema.execute("CREATE SEQUENCE refusals;"
                    + " CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('refusals') <= 3 THEN"
                    + " RAISE EXCEPTION 'permission denied' USING ERRCODE = '42501'; END IF; RETURN NEW; END $$");
            scene.start();
            scene.begin(TYPE, "1", "x");
            atWork.await();
            schema.execute(
                    "CREATE TRIGGER refuse BEFORE UPDATE ON rowlock_saga FOR EACH ROW EXECUTE FUNCTION refuse()");
            gate.countDown();

            scene.await("1", SagaStatus.COMPLETED);
            assertThat(schema.count("SELECT last_value FROM refusals")).isGreaterThan(3);
            assertThat(calls).hasValue(1);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
            schema.execute("DROP TRIGGER refuse ON rowlock_saga; DROP FUNCTION refuse; DROP SEQUENCE refusals");
        }
    }
}
