package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A trigger of the application's refuses what is written of one job. */
@PostgresTest
@Tag("P10")
@Timeout(180)
final class RefusedRowIT {
    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    RefusedRowIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        allow();
        scene.close();
    }

    @Test
    void outcome_that_is_refused_keeps_no_other_from_being_recorded() throws Exception {
        refuse("NEW.state = 'completed'");
        Deeds handler = scene.deeds("worker");
        scene.enqueue(Task.waiting("all"), options -> options.subject("refused"));
        scene.enqueueAll(Collections.nCopies(5, Task.waiting("all")));
        Worker worker = scene.start(scene.rowlock(heard), handler);
        patiently().until(() -> scene.starts("all") == 6);

        handler.openAll();
        patiently().until(() -> scene.count("state = 'completed' AND attempts = 1 AND losses = 0") == 5);
        patiently().until(() -> worker.health().unrecorded() == 0);
        patiently().until(() -> worker.health().up());
        patiently().until(() -> scene.count("subject = 'refused' AND losses > 0") == 1);
        allow();
        scene.awaitAllDone();
    }

    @Test
    @Tag("P8")
    void lost_job_that_cannot_be_rescued_keeps_no_other_from_it() throws Exception {
        refuse("NEW.losses > OLD.losses");
        List<Long> lost = scene.enqueueAll(Collections.nCopies(5, Task.quick("lost")));
        schema.execute("UPDATE rowlock_job SET locked_by = 'gone', token = 1, attempts = 1,"
                + " locked_until = clock_timestamp(), subject = CASE id WHEN " + lost.get(2) + " THEN 'refused' END");
        Worker worker = scene.start(scene.rowlock(heard), scene.deeds("worker"));

        patiently().until(() -> scene.count("state = 'completed' AND losses = 1") == 4);
        scene.awaitState(scene.enqueue(Task.quick("healthy")), "completed");
        assertThat(scene.number(lost.get(2), "losses")).isZero();
        assertThat(worker.health().up()).isTrue();
        allow();
        scene.awaitState(lost.get(2), "completed");
        assertThat(heard.of(JobRescued.class)).hasSize(5);
    }

    /** As P0001, as PL/pgSQL does. */
    private void refuse(String when) throws SQLException {
        schema.execute("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;"
                + "CREATE TRIGGER refuse BEFORE UPDATE ON rowlock_job FOR EACH ROW WHEN (NEW.subject = 'refused' AND "
                + when + ") EXECUTE FUNCTION refuse()");
    }

    private void allow() throws SQLException {
        schema.execute("DROP TRIGGER IF EXISTS refuse ON rowlock_job");
    }
}
