package io.rowlock.guide;

import static io.rowlock.job.RetryPolicy.exponential;
import static io.rowlock.saga.Branch.branch;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaRequest;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.Sagas;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

@PostgresTest
class SagasIT {
    private static final SagaSignal<Delivered> DELIVERED = SagaSignal.named("delivered", Delivered.class);

    /** What starts a saga. */
    @Kind("order-placed")
    public record OrderPlaced(long order) {}

    /** What a saga waits for. */
    public record Delivered(Instant at) {}

    // tag::state
    public record Fulfilment(long order, String reservation, String charge, String shipment, String thanks) {
        static Fulfilment of(long order) {
            return new Fulfilment(order, "", "", "", "");
        }

        Fulfilment reserved(String now) {
            return new Fulfilment(order, now, charge, shipment, thanks);
        }

        Fulfilment charged(String now) {
            return new Fulfilment(order, reservation, now, shipment, thanks);
        }

        Fulfilment booked(String now) {
            return new Fulfilment(order, reservation, charge, now, thanks);
        }

        Fulfilment thanked(String now) {
            return new Fulfilment(order, reservation, charge, shipment, now);
        }
    }
    // end::state

    /** A service with books of its own. */
    static final class Service {
        private final Map<String, String> done = new ConcurrentHashMap<>();
        private final Set<String> undone = ConcurrentHashMap.newKeySet();

        String doOnce(String key) {
            return done.computeIfAbsent(key, any -> "no " + done.size());
        }

        void undoByKey(String key) {
            undone.add(key);
        }
    }

    static final Service STOCK = new Service();
    static final Service CARDS = new Service();
    static final Service CARRIER = new Service();

    // tag::definition
    static final class OrderFulfilment implements SagaDefinition<Fulfilment> {
        static final SagaType<Fulfilment> TYPE = SagaType.named("order-fulfilment", Fulfilment.class);

        @Override
        public Saga<Fulfilment> define(SagaBuilder<Fulfilment> saga) {
            return saga.named("order-fulfilment", Fulfilment.class)
                    .version(1)
                    .startedBy(OrderPlaced.class, placed -> Fulfilment.of(placed.order()))
                    .businessKey(state -> "Order:" + state.order())
                    .step("reserve-stock")
                    .call((state, step) -> state.reserved(STOCK.doOnce(step.key())))
                    .compensate((state, step) -> STOCK.undoByKey(step.key("reserve-stock")))
                    .step("charge-card")
                    .call((state, step) -> state.charged(CARDS.doOnce(step.key())))
                    .compensate((state, step) -> CARDS.undoByKey(step.key("charge-card")))
                    .retry(exponential(ofSeconds(1)).maxAttempts(5))
                    .timeout(ofSeconds(20))
                    .pivot("book-shipment")
                    .call((state, step) -> state.booked(CARRIER.doOnce(step.key())))
                    .step("write-invoice")
                    .transactional((state, step, connection) -> invoice(connection, state))
                    .build();
        }
    }
    // end::definition

    private static Fulfilment invoice(Connection connection, Fulfilment state) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO invoice VALUES (?)")) {
            insert.setLong(1, state.order());
            insert.executeUpdate();
        }
        return state;
    }

    /** One that waits. */
    static final class Delivery implements SagaDefinition<Fulfilment> {
        static final SagaType<Fulfilment> TYPE = SagaType.named("delivery", Fulfilment.class);
        private final int version;

        Delivery(int version) {
            this.version = version;
        }

        @Override
        public Saga<Fulfilment> define(SagaBuilder<Fulfilment> saga) {
            return saga.named("delivery", Fulfilment.class)
                    .version(version)
                    .businessKey(state -> "Order:" + state.order())
                    // tag::waits
                    .await(DELIVERED, (state, delivered) -> state.booked("delivered at " + delivered.at()))
                    .within(ofDays(14))
                    .otherwise(Escalation.escalate()) // an alert; it waits on. Or fail(), or continueWith(...)
                    .sleep("let-it-rest", Duration.ofMillis(1))
                    .parallel(
                            "aftercare",
                            branch(
                                    "thank",
                                    chain -> chain.step("send-thanks")
                                            .call((state, step) -> state.thanked("yes"))
                                            .noCompensation()),
                            branch(
                                    "survey",
                                    chain -> chain.step("send-survey")
                                            .call((state, step) -> state)
                                            .noCompensation()))
                    .join((state, results) -> results.of("thank"))
                    // end::waits
                    .build();
        }
    }

    private final TestSchema schema;
    private final Rowlock rowlock;

    SagasIT(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        schema.execute("CREATE TABLE IF NOT EXISTS invoice (order_id bigint)");
    }

    @Test
    void a_saga_from_its_start_to_its_end() throws Exception {
        // tag::engine
        SagaEngine engine =
                SagaEngine.builder(rowlock).register(new OrderFulfilment()).build();
        Worker worker = rowlock.worker(config -> engine.on(config).queue("default", 20));
        worker.start();
        // end::engine
        try (worker;
                Connection connection = schema.begin()) {
            // tag::start
            Sagas sagas = engine.sagas();
            SagaStarted started = sagas.start(connection, OrderFulfilment.TYPE, "order-42", Fulfilment.of(42));
            // or, as the definition says startedBy(OrderPlaced.class, ...), by a job: one @OutboxJob of an entity is
            // enough
            rowlock.outbox().enqueue(connection, new OrderPlaced(43));
            // many at once, in one statement for up to 1,000 of them
            List<Long> imported = List.of(44L, 45L);
            sagas.startAll(
                    connection,
                    imported.stream()
                            .map(order -> SagaRequest.of(OrderFulfilment.TYPE, "order-" + order, Fulfilment.of(order)))
                            .toList());
            connection.commit();
            // end::start
            assertThat(started.duplicate()).isFalse();
            await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> schema.list(Long.class, "SELECT order_id FROM invoice ORDER BY 1"),
                            List.of(42L, 43L, 44L, 45L)::equals);
            await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> schema.list(
                                    String.class, "SELECT status FROM rowlock_saga WHERE name = 'order-fulfilment'"),
                            List.of("completed", "completed", "completed", "completed")::equals);
        }
        assertThat(STOCK.undone).isEmpty();
    }

    @Test
    void a_signal_and_a_second_version() throws Exception {
        // tag::versions
        SagaEngine engine = SagaEngine.builder(rowlock)
                .register(new Delivery(1)) // until its last saga has ended
                .register(new Delivery(2))
                .build();
        // end::versions
        try (Worker worker = rowlock.worker(engine::on)) {
            worker.start();
            Sagas sagas = engine.sagas();
            try (Connection connection = schema.begin()) {
                sagas.start(connection, Delivery.TYPE, "delivery-42", Fulfilment.of(42));
                // tag::signal
                sagas.signal(connection, DELIVERED, SagaTarget.businessKey("Order:42"), new Delivered(Instant.EPOCH));
                // end::signal
                connection.commit();
            }
            await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> schema.list(
                                    String.class, "SELECT status || version FROM rowlock_saga WHERE name = 'delivery'"),
                            List.of("completed2")::equals);
            assertThat(sagas.cancel("delivery-42", new By("ada", "too late")))
                    .isEqualTo(SagaCancellation.ALREADY_FINISHED);
        }
    }
}
