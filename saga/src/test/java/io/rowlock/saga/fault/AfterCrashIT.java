package io.rowlock.saga.fault;

import static io.rowlock.saga.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All workers are killed while sagas wait; a new one lets them go on though nobody starts a saga. */
@PostgresTest
@Tag("B49")
@Timeout(180)
final class AfterCrashIT {
    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void waiting_sagas_get_their_signals_timers_and_deadlines_from_a_new_worker() throws Exception {
        SagaEngine before = Scene.engine(scene.rowlock(), "default", WaitingChild.definitions(scene.books()));
        scene.begin(before, WaitingChild.SIGNAL, Purchase.of("early", ""), Purchase.of("late", ""));
        scene.begin(before, WaitingChild.TIMER, Purchase.of("timer", ""));
        scene.begin(before, WaitingChild.DEADLINE, Purchase.of("deadline", ""));
        try (ChildJvm child = scene.launch(WaitingChild.class, jvm -> {})) {
            for (String saga : List.of("early", "late", "timer", "deadline")) {
                scene.awaitStep(saga, "wait", "waiting");
            }
            child.kill();
        }
        signal(before, "early");
        // time goes on without anybody
        assertThat(scene.schema()
                        .update("UPDATE rowlock_saga_step SET due_at = clock_timestamp() WHERE saga = 'timer'"
                                + " AND step = 'wait'"))
                .isOne();
        assertThat(scene.schema().update("UPDATE rowlock_saga SET deadline = clock_timestamp() WHERE id = 'deadline'"))
                .isOne();
        assertThat(scene.schema()
                        .update("UPDATE rowlock_job SET run_at = clock_timestamp() WHERE payload::text"
                                + " IN ('\"timer\"', '\"deadline\"')"))
                .isEqualTo(2);

        SagaDefinition<?>[] reversed = WaitingChild.definitions(scene.books());
        Collections.reverse(Arrays.asList(reversed));
        SagaEngine after = Scene.engine(scene.rowlock(), "default", reversed);
        scene.start(after, scene.rowlock(), worker -> {});
        scene.await("early", SagaStatus.COMPLETED);
        scene.await("timer", SagaStatus.COMPLETED);
        scene.await("deadline", SagaStatus.COMPENSATED);
        assertThat(scene.status("late")).isEqualTo("running");
        signal(after, "late");
        scene.await("late", SagaStatus.COMPLETED);

        assertThat(scene.books().of("timer")).containsExactly("reserve done", "charge done");
        assertThat(scene.books().of("deadline")).containsExactly("reserve undone");
        patiently().until(() -> scene.schema().count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'") == 0);
    }

    private void signal(SagaEngine engine, String saga) throws SQLException {
        try (Connection connection = scene.schema().begin()) {
            engine.sagas().signal(connection, WaitingChild.PAID, SagaTarget.saga(saga), 7);
            connection.commit();
        }
    }
}
