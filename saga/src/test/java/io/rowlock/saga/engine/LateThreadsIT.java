package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attempts that took too long, whose threads may still run: nobody is at the same step, and nobody's wish is overlooked. */
@PostgresTest
@Tag("P6")
final class LateThreadsIT {
    private static final SagaType<String> TYPE = SagaType.named("late", String.class);
    private static final SagaSignal<String> OTHER = SagaSignal.named("other", String.class);
    private static final By ME = new By("me", "test");
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.fixed(Duration.ofHours(1));
    private static final RetryPolicy AT_ONCE = RetryPolicy.fixed(Duration.ZERO);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger undone = new AtomicInteger();
    private SagaScene scene;

    @AfterEach
    void end() {
        goOn.countDown();
        scene.close();
    }

    private SagaDefinition<String> hangs(RetryPolicy retry) {
        return saga -> saga.named("late", String.class)
                .version(1)
                .deadline(Duration.ofDays(1))
                .step("a")
                .call((state, step) -> {
                    if (calls.incrementAndGet() == 1) {
                        begun.countDown();
                        hang();
                    }
                    return state + "a";
                })
                .compensate((state, step) -> undone.incrementAndGet())
                .timeout(Duration.ofMillis(300))
                .retry(retry)
                .build();
    }

    /** As a client that does not hear of interrupts. */
    private void hang() {
        while (goOn.getCount() > 0) {
            try {
                goOn.await();
            } catch (InterruptedException e) {
                // goes on
            }
        }
    }

    private void begin(TestSchema schema, SagaDefinition<String> definition) throws Exception {
        scene = new SagaScene(schema, definition);
        scene.start();
        scene.begin(TYPE, "1", "");
        begun.await();
    }

    private Instant freeAt(TestSchema schema) throws Exception {
        return schema.list(OffsetDateTime.class, "SELECT free_at FROM rowlock_saga_step WHERE step = 'a'")
                .get(0)
                .toInstant();
    }

    @Test
    void a_signal_does_not_start_the_next_attempt_beside_it(TestSchema schema) throws Exception {
        begin(schema, hangs(AT_ONCE));
        scene.awaitStep("1", "a", "retrying");
        Instant free = freeAt(schema);
        scene.signal(OTHER, SagaTarget.saga("1"), "x");
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(calls).hasValue(2);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_saga WHERE finished_at < ?::timestamptz", free.toString()))
                .isZero();
    }

    @Test
    void a_cancel_undoes_it_when_its_thread_counts_as_gone_and_not_when_it_would_be_tried_again(TestSchema schema)
            throws Exception {
        begin(schema, hangs(IN_AN_HOUR));
        scene.awaitStep("1", "a", "retrying");
        Instant free = freeAt(schema);
        assertThat(scene.sagas().cancel("1", ME)).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(undone).hasValue(1);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_saga_step WHERE compensated_at < ?::timestamptz",
                        free.toString()))
                .isZero();
    }

    @Test
    void a_cancel_while_it_runs_is_seen_when_it_has_taken_too_long(TestSchema schema) throws Exception {
        begin(schema, hangs(IN_AN_HOUR));
        assertThat(scene.sagas().cancel("1", ME)).isEqualTo(SagaCancellation.ACCEPTED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(undone).hasValue(1);
    }

    @Test
    void a_deadline_while_it_runs_is_seen_when_it_has_taken_too_long(TestSchema schema) throws Exception {
        begin(schema, hangs(IN_AN_HOUR));
        schema.execute("UPDATE rowlock_saga SET deadline = clock_timestamp()");
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(undone).hasValue(1);
    }

    @Test
    @Tag("P4")
    void a_transactional_one_that_waits_in_the_server_is_ended_there(TestSchema schema) throws Exception {
        schema.execute("CREATE TABLE IF NOT EXISTS late_row (n integer)");
        schema.execute("TRUNCATE late_row");
        schema.execute("INSERT INTO late_row VALUES (1)");
        SagaDefinition<String> definition = saga -> saga.named("late", String.class)
                .version(1)
                .step("a")
                .transactional((state, step, connection) -> {
                    begun.countDown();
                    try (PreparedStatement update = connection.prepareStatement("UPDATE late_row SET n = 2")) {
                        update.executeUpdate();
                    }
                    return state;
                })
                .noCompensation()
                .timeout(Duration.ofMillis(500))
                .retry(AT_ONCE.maxAttempts(1))
                .build();
        try (Connection other = schema.dataSource().getConnection()) {
            other.setAutoCommit(false);
            try (PreparedStatement lock = other.prepareStatement("UPDATE late_row SET n = 3")) {
                lock.executeUpdate();
            }
            begin(schema, definition);
            scene.await("1", SagaStatus.COMPENSATED);
            other.rollback();
        }
        assertThat(schema.list(Integer.class, "SELECT n FROM late_row")).containsExactly(1);
    }
}
