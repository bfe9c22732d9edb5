package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobsEnqueued;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaRequest;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many sagas are started as one start after the other would start them. */
@PostgresTest
@Tag("B09")
final class StartAllIT {
    private static final SagaType<String> TRIP = SagaType.named("trip", String.class);
    private static final SagaType<String> ORDER = SagaType.named("order", String.class);

    private final List<Long> told = new ArrayList<>();
    private TestSchema schema;
    private Rowlock rowlock;
    private SagaEngine engine;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        this.schema = schema;
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .listener(event -> {
                    if (event instanceof JobsEnqueued enqueued) {
                        enqueued.jobs().forEach(job -> told.add(job.id()));
                    }
                })
                .build();
        rowlock.schema().install();
        schema.execute("DELETE FROM rowlock_saga; DELETE FROM rowlock_saga_step; DELETE FROM rowlock_job");
        engine = SagaEngine.builder(rowlock).register(trip()).register(order()).build();
    }

    private static SagaDefinition<String> trip() {
        return saga -> saga.named("trip", String.class)
                .version(1)
                .step("go")
                .call((state, step) -> state + "!")
                .noCompensation()
                .build();
    }

    private static SagaDefinition<String> order() {
        return saga -> saga.named("order", String.class)
                .version(1)
                .businessKey(state -> state)
                .step("go")
                .call((state, step) -> state)
                .noCompensation()
                .build();
    }

    @Test
    @Tag("P1")
    void two_thousand_are_started_each_with_its_driver_and_run() throws Exception {
        List<SagaRequest<String>> requests = IntStream.range(0, 2_000)
                .mapToObj(n -> SagaRequest.of(TRIP, "trip-" + n, "state", options -> options.subject("Customer:" + n)))
                .toList();

        List<SagaStarted> started = startAll(requests);

        assertThat(started)
                .extracting(SagaStarted::id)
                .containsExactlyElementsOf(
                        requests.stream().map(SagaRequest::id).toList());
        assertThat(started).noneMatch(SagaStarted::duplicate);
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga s JOIN rowlock_job j ON j.id = s.driver"
                        + " WHERE j.payload::text = to_json(s.id)::text AND j.subject = s.subject AND j.queue = s.queue"
                        + " AND j.kind = 'saga/trip/1' AND j.headers::text IS NOT DISTINCT FROM s.headers::text"))
                .isEqualTo(2_000);
        assertThat(told).hasSize(2_000).doesNotHaveDuplicates();
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(engine::on)) {
            for (int i = 0; i < 20; i++) {
                worker.runNext();
            }
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE status = 'completed'"))
                .isEqualTo(20);
    }

    @Test
    void those_that_are_there_are_answered_also_when_they_are_in_the_same_call() throws Exception {
        startAll(List.of(SagaRequest.of(TRIP, "b", "first"), SagaRequest.of(ORDER, "order-1", "Order:1")));

        List<SagaStarted> started = startAll(List.of(
                SagaRequest.of(TRIP, "c", "new"),
                SagaRequest.of(TRIP, "b", "second"),
                SagaRequest.of(TRIP, "c", "again"),
                SagaRequest.of(ORDER, "order-2", "Order:1"),
                SagaRequest.of(TRIP, "a", "new")));

        assertThat(started)
                .containsExactly(
                        new SagaStarted("c", false),
                        new SagaStarted("b", true),
                        new SagaStarted("c", true),
                        new SagaStarted("order-1", true),
                        new SagaStarted("a", false));
        assertThat(schema.list(String.class, "SELECT id || ' ' || (state #>> '{}') FROM rowlock_saga ORDER BY id"))
                .containsExactly("a new", "b first", "c new", "order-1 Order:1");
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(4);
    }

    @Test
    @Tag("P15")
    void in_another_isolation_nothing_is_written_and_the_transaction_goes_on() throws Exception {
        try (Connection connection = schema.begin()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertThatThrownBy(() -> engine.sagas().startAll(connection, List.of(SagaRequest.of(TRIP, "a", "x"))))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessage("A saga can be started in a READ COMMITTED transaction only (saga=a)");
            connection.createStatement().execute("SELECT 1");
            connection.commit();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga")).isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
    }

    @Test
    void one_that_cannot_be_started_keeps_all_from_being_written() throws Exception {
        List<SagaRequest<?>> requests = List.of(
                SagaRequest.of(TRIP, "a", "x"), SagaRequest.of(SagaType.named("nobody", String.class), "b", "x"));
        assertThatThrownBy(() -> startAll(requests)).isInstanceOf(InvalidUseException.class);
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga")).isZero();
        assertThat(startAll(List.of())).isEmpty();
    }

    private List<SagaStarted> startAll(List<? extends SagaRequest<?>> requests) throws SQLException {
        try (Connection connection = schema.begin()) {
            List<SagaStarted> started = engine.sagas().startAll(connection, requests);
            connection.commit();
            return started;
        }
    }
}
