package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A transactional step does its work, and a deferred constraint refuses the commit. */
@PostgresTest
@Tag("P4")
@Timeout(180)
final class RefusedCommitIT {
    private static final SagaType<Purchase> TRIP = SagaType.named("trip", Purchase.class);

    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
        scene.schema().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                  RAISE EXCEPTION 'this invoice is refused' USING ERRCODE = 'check_violation';
                END $$;
                CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON invoice DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION refuse();
                """);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void it_fails_like_one_that_threw_and_says_why() throws Exception {
        Gates gates = new Gates();
        SagaDefinition<Purchase> definition = saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("a")
                .call(gates::call)
                .compensate(gates::undo)
                .step("pay")
                .transactional((purchase, step, connection) -> {
                    scene.books().inTransaction(step, connection, purchase.amount(), false);
                    return gates.call(purchase, step);
                })
                .noCompensation()
                .retry(RetryPolicy.fixed(Duration.ofMillis(20)).maxAttempts(3))
                .build();
        SagaEngine engine = Scene.engine(scene.rowlock(), "default", definition);
        scene.start(engine, scene.rowlock(), worker -> {});
        scene.begin(engine, TRIP, Purchase.of("1", ""));
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(gates.done()).containsExactly("1 a", "1 pay", "1 pay", "1 pay", "1 undo-a");
        assertThat(scene.invoices("1")).isEmpty();
        assertThat(scene.schema().list(String.class, "SELECT error FROM rowlock_saga_step WHERE step = 'pay'"))
                .singleElement()
                .asString()
                .contains("this invoice is refused");
        assertThat(scene.schema().list(String.class, "SELECT state ->> 'log' FROM rowlock_saga"))
                .containsExactly("[\"a\"]");
    }
}
