package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaOutcome.SagaStuck;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of sagas that nothing moves, and of old ones. */
@PostgresTest
final class HousekeepingIT {
    private static final SagaType<String> TYPE = SagaType.named("wait", String.class);
    private static final SagaSignal<String> GO = SagaSignal.named("go", String.class);

    /** One that waits for a signal, under a name of the step that may change between versions. */
    private record Waiting(int version, String step) implements SagaDefinition<String> {
        @Override
        public Saga<String> define(SagaBuilder<String> saga) {
            return saga.named("wait", String.class)
                    .version(version)
                    .await(step, GO, (state, go) -> state + go)
                    .within(Duration.ofDays(1))
                    .otherwise(Escalation.fail())
                    .build();
        }
    }

    @Test
    @Tag("P2")
    void a_saga_whose_driver_somebody_cancelled_is_stuck_for_all_to_see(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, new Waiting(1, "go"))) {
            scene.start();
            scene.begin(TYPE, "1", "a");
            scene.awaitStep("1", "go", "waiting");
            long driver =
                    schema.list(Long.class, "SELECT driver FROM rowlock_saga").get(0);
            SagaScene.await(
                    () -> scene.one("SELECT coalesce(locked_by, 'nobody') FROM rowlock_job WHERE id = " + driver)
                            .equals("nobody"));
            scene.rowlock().jobs().cancel(driver, new By("me", "test"));
            scene.start(); // looks at once; the first one in half a minute
            scene.await("1", SagaStatus.STUCK);
            assertThat(scene.one("SELECT cause FROM rowlock_alert WHERE kind = 'wait'"))
                    .isEqualTo("saga stuck");
            SagaScene.await(() -> scene.events().stream()
                    .anyMatch(each ->
                            each instanceof SagaStuck stuck && stuck.id().equals("1") && stuck.version() == 1));
            assertThat(scene.raised()).containsExactly("saga stuck");
        }
    }

    @Test
    @Tag("P8")
    void a_saga_whose_driver_became_a_dead_letter_is_stuck_for_all_to_see(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, new Waiting(1, "go"))) {
            schema.execute("CREATE FUNCTION refuse_saga() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    + " RAISE EXCEPTION 'refused' USING ERRCODE = '23514'; END $$");
            schema.execute("CREATE TRIGGER refuse BEFORE UPDATE ON rowlock_saga FOR EACH ROW"
                    + " WHEN (NEW.step IS NOT NULL AND NEW.status <> 'stuck') EXECUTE FUNCTION refuse_saga()");
            scene.start();
            scene.begin(TYPE, "1", "a");
            SagaScene.await(() -> {
                schema.update("UPDATE rowlock_job SET run_at = clock_timestamp()"
                        + " WHERE state = 'ready' AND locked_by IS NULL");
                return scene.status("1").equals("stuck");
            });
            SagaScene.await(() -> scene.events().stream().anyMatch(SagaStuck.class::isInstance));
            assertThat(scene.events())
                    .singleElement()
                    .isInstanceOfSatisfying(
                            SagaStuck.class,
                            stuck -> assertThat(stuck.id() + " " + stuck.name() + " " + stuck.version() + " "
                                            + stuck.reason())
                                    .startsWith("1 wait 1 its driver failed for good: ")
                                    .contains("refused"));
        } finally {
            schema.execute("DROP FUNCTION IF EXISTS refuse_saga() CASCADE");
        }
    }

    @Test
    void sagas_of_a_version_that_nobody_has_wait_and_are_told_of(TestSchema schema) throws Exception {
        try (SagaScene old = new SagaScene(schema, new Waiting(1, "go"))) {
            old.start();
            old.begin(TYPE, "1", "a");
            old.awaitStep("1", "go", "waiting");
            old.stopAll();
            SagaScene renewed = new SagaScene(schema, false, new Waiting(2, "go"));
            renewed.start();
            assertThat(renewed.one("SELECT cause FROM rowlock_alert")).isEqualTo("saga version missing");
            renewed.signal(GO, SagaTarget.saga("1"), "b");
            SagaScene.await(
                    () -> !renewed.one("SELECT saga FROM rowlock_saga_signal").equals("none"));
            assertThat(renewed.status("1")).isEqualTo("running");
            SagaScene both = new SagaScene(schema, false, new Waiting(2, "go"), new Waiting(1, "go"));
            both.start();
            both.await("1", SagaStatus.COMPLETED);
            renewed.stopAll();
            both.stopAll();
        }
    }

    @Test
    void a_step_that_its_version_has_no_more_is_not_guessed_at(TestSchema schema) throws Exception {
        try (SagaScene old = new SagaScene(schema, new Waiting(1, "go"))) {
            old.start();
            old.begin(TYPE, "1", "a");
            old.awaitStep("1", "go", "waiting");
            old.stopAll();
            SagaScene changed = new SagaScene(schema, false, new Waiting(1, "renamed"));
            changed.start();
            changed.signal(GO, SagaTarget.saga("1"), "b");
            SagaScene.await(() -> changed.one("SELECT cause FROM rowlock_alert").equals("saga unknown step"));
            assertThat(changed.status("1")).isEqualTo("running");
            assertThat(changed.step("1", "renamed")).isEqualTo("none");
            changed.stopAll();
        }
    }

    @Test
    void finished_sagas_are_deleted_past_their_retention_with_all_that_is_theirs(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, new Waiting(1, "go"))) {
            scene.start();
            for (String id : new String[] {"old", "new", "open"}) {
                scene.begin(TYPE, id, "a");
            }
            scene.signal(GO, SagaTarget.saga("old"), "b");
            scene.signal(GO, SagaTarget.saga("new"), "b");
            scene.await("old", SagaStatus.COMPLETED);
            scene.await("new", SagaStatus.COMPLETED);
            schema.execute("UPDATE rowlock_saga SET finished_at = finished_at - interval '40 days' WHERE id = 'old'");
            scene.start(); // looks at once
            SagaScene.await(() -> scene.status("old").equals("none"));
            assertThat(schema.list(String.class, "SELECT DISTINCT saga FROM rowlock_saga_step ORDER BY 1"))
                    .containsExactly("new", "open");
            assertThat(schema.list(String.class, "SELECT DISTINCT saga FROM rowlock_saga_signal"))
                    .containsExactly("new");
        }
    }

    @Test
    @Tag("P2")
    @Tag("B17")
    void the_job_of_a_live_saga_is_never_deleted_however_old(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, new Waiting(1, "go"))) {
            scene.start(worker -> worker.keepCompleted(Duration.ZERO));
            scene.begin(TYPE, "1", "a");
            scene.awaitStep("1", "go", "waiting");
            scene.begin(TYPE, "ended", "a");
            scene.signal(GO, SagaTarget.saga("ended"), "b");
            scene.await("ended", SagaStatus.COMPLETED);
            scene.stopAll();
            schema.execute("INSERT INTO rowlock_job (kind, payload, state, finished_at)"
                    + " VALUES ('saga/wait/1', '\"gone\"', 'completed', clock_timestamp() - interval '20 years')");
            schema.execute("UPDATE rowlock_job SET created_at = created_at - interval '20 years'");
            schema.execute("UPDATE rowlock_saga SET created_at = created_at - interval '20 years',"
                    + " finished_at = finished_at - interval '20 years'");
            scene.start(worker -> worker.keepCompleted(Duration.ZERO)); // looks at once
            SagaScene.await(() -> scene.status("ended").equals("none")
                    && scene.schema().count("SELECT count(*) FROM rowlock_job WHERE state = 'completed'") == 0);
            assertThat(schema.list(String.class, "SELECT payload #>> '{}' FROM rowlock_job"))
                    .containsExactly("1");
            scene.signal(GO, SagaTarget.saga("1"), "b");
            scene.await("1", SagaStatus.COMPLETED);
        }
    }
}
