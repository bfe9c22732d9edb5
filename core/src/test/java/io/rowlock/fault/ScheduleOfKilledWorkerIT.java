package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.JobKind;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Schedules whose jobs, or whose own transactions, a worker in another JVM leaves behind when it is killed. */
@PostgresTest
@Tag("B37")
final class ScheduleOfKilledWorkerIT {
    private static final String FIRED = "SELECT count(*) FROM rowlock_job WHERE subject = 'schedule:tidy'";

    private final TestSchema schema;

    ScheduleOfKilledWorkerIT(TestSchema schema) {
        this.schema = schema;
    }

    private static Schedule<Task> tidy() {
        return Schedule.fixedDelay("tidy", Duration.ofHours(1)).job(JobKind.of(Task.class), Task.waiting("a"));
    }

    @Test
    void a_fixed_delay_goes_on_after_the_job_that_another_worker_ended() throws Exception {
        try (Scene scene = Scene.empty(schema)) {
            scene.rowlock().schedules().declare(tidy());
            schema.execute("UPDATE rowlock_schedule SET next_at = clock_timestamp()");
            try (ChildJvm first = ChildWorker.launch(schema, "first", options -> {})) {
                scene.awaitStart("a", "first");
                first.kill();
            }
            assertThat(schema.count(FIRED)).isOne();
            Deeds deeds = scene.deeds("second");
            scene.start(scene.rowlock(), deeds);
            scene.awaitStart("a", "second");
            assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE next_at IS NULL"))
                    .isOne();
            deeds.open("a");
            Scene.patiently()
                    .until(() -> schema.count("SELECT count(*) FROM rowlock_schedule s, rowlock_job j"
                                    + " WHERE j.id = s.last_job AND s.next_at = j.finished_at + interval '1 hour'")
                            == 1);
            assertThat(schema.count(FIRED)).isOne();
        }
    }

    @Test
    @Tag("B16")
    void an_instant_whose_jvm_is_killed_before_the_commit_fires_once_by_the_next() throws Exception {
        try (Scene scene = Scene.empty(schema)) {
            scene.rowlock().schedules().declare(tidy());
            schema.execute("UPDATE rowlock_schedule SET next_at = clock_timestamp();"
                    + "CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    + " PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$;"
                    + "CREATE TRIGGER stall AFTER UPDATE ON rowlock_schedule FOR EACH ROW EXECUTE FUNCTION stall()");
            try (var gate = schema.begin()) {
                gate.createStatement().execute("SELECT pg_advisory_xact_lock(4711)");
                try (ChildJvm first = ChildWorker.launch(schema, "first", options -> {})) {
                    Scene.patiently()
                            .until(() -> schema.count("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                            + " AND objid = 4711 AND NOT granted")
                                    == 1);
                    first.kill();
                }
                schema.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        + " AND objid = 4711 AND NOT granted"); // a server notices a dead client only when it answers
                gate.rollback();
            }
            assertThat(schema.count(FIRED)).isZero();
            Deeds deeds = scene.deeds("second");
            scene.start(scene.rowlock(), deeds);
            scene.awaitStart("a", "second");
            schema.execute("DROP TRIGGER stall ON rowlock_schedule");
            assertThat(schema.count(FIRED)).isOne();
        }
    }
}
