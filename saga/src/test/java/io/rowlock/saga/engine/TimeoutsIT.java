package io.rowlock.saga.engine;

import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attempts that take too long, of many sagas at once. */
@PostgresTest
final class TimeoutsIT {
    private static final SagaType<String> TYPE = SagaType.named("hangs", String.class);

    @Test
    @Tag("P6")
    void one_whose_rows_are_locked_does_not_keep_back_the_others(TestSchema schema) throws Exception {
        Set<String> hanging = ConcurrentHashMap.newKeySet();
        SagaDefinition<String> definition = saga -> saga.named("hangs", String.class)
                .version(1)
                .step("a")
                .call((state, step) -> {
                    hanging.add(state);
                    new CountDownLatch(1).await();
                    return state;
                })
                .noCompensation()
                .timeout(Duration.ofSeconds(2))
                .retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(1))
                .build();
        try (SagaScene scene = new SagaScene(schema, definition);
                Connection other = schema.dataSource().getConnection()) {
            scene.start();
            scene.begin(TYPE, "locked", "locked");
            SagaScene.await(() -> hanging.contains("locked"));
            other.setAutoCommit(false);
            try (PreparedStatement lock =
                    other.prepareStatement("SELECT id FROM rowlock_saga WHERE id = 'locked' FOR UPDATE")) {
                lock.executeQuery();
            }
            scene.begin(TYPE, "free", "free");
            scene.await("free", SagaStatus.COMPENSATED);
            other.rollback();
            scene.await("locked", SagaStatus.COMPENSATED);
        }
    }
}
