package io.rowlock.guide;

import static io.rowlock.job.RetryPolicy.exponential;
import static io.rowlock.saga.Choice.otherwise;
import static io.rowlock.saga.Choice.when;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaFork;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.Sagas;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

@PostgresTest
class SagaPartsIT {
    private static final SagaSignal<String> PAID = SagaSignal.named("paid", String.class);
    private static final By ANN = new By("ann", "the guest called");

    /** A row of the application. */
    @Entity(name = "bill")
    public static class Bill {
        @Id
        private long id;

        protected Bill() {}

        Bill(long id) {
            this.id = id;
        }
    }

    /** The state of the child. */
    public record Packing(long order, String box) {}

    /** The state. */
    public record Order(long number, String box, boolean express) {
        Order in(String newBox) {
            return new Order(number, newBox, express);
        }
    }

    /** The state as version 1 wrote it. */
    public record OldOrder(long number) {}

    private static final SagaType<Packing> PACKING = SagaType.named("packing", Packing.class);
    private static final SagaType<Order> ORDER = SagaType.named("order", Order.class);
    private static final SagaType<Order> BILLING = SagaType.named("billing", Order.class);

    private final List<String> done = new CopyOnWriteArrayList<>();
    private final TestSchema schema;
    private final Rowlock rowlock;

    SagaPartsIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    private Saga<Order> order(SagaBuilder<Order> saga) {
        return saga.named("order", Order.class)
                .version(1)
                // tag::deadline
                .deadline(ofDays(30)) // before the pivot: undone, as by a cancel; behind it: an alert, and it goes on
                // end::deadline
                // tag::options
                .step("hold-stock")
                .call((order, step) -> hold(order, step.key()))
                .compensate((order, step) -> release(step.key("hold-stock")))
                .retry(exponential(ofSeconds(1)).maxAttempts(5)) // of the step
                .retryCompensation(exponential(ofSeconds(5)).maxAttempts(100)) // an undo may be patient
                .timeout(ofSeconds(20)) // of each attempt of both
                .compensateOnlyWhenCompleted() // left alone without an answer: it expires
                // end::options
                // tag::child
                .child("pack", PACKING) // runs under the id of this saga, a slash and "pack"
                .startedWith(order -> new Packing(order.number(), ""))
                .completed((order, packing) -> order.in(packing.box()))
                .compensate((order, step) -> unpack(order))
                // end::child
                // tag::choose
                .choose(
                        "carrier",
                        when(
                                "express",
                                Order::express,
                                chain -> chain.step("call-courier")
                                        .call((order, step) -> courier(order))
                                        .noCompensation()),
                        otherwise()) // nothing to do; or otherwise(chain -> ...)
                // end::choose
                .await(PAID, (order, how) -> order)
                .within(ofDays(14))
                .otherwise(Escalation.fail())
                .build();
    }

    private static Saga<Packing> packing(SagaBuilder<Packing> saga) {
        return saga.named("packing", Packing.class)
                .version(1)
                .step("find-box")
                .call((packing, step) -> new Packing(packing.order(), "box 7"))
                .noCompensation()
                .build();
    }

    private Order hold(Order order, String key) {
        done.add("hold");
        return order;
    }

    private void release(String key) {
        done.add("release");
    }

    private void unpack(Order order) {
        done.add("unpack " + order.box());
    }

    private Order courier(Order order) {
        done.add("courier");
        return order;
    }

    @Test
    void a_saga_with_a_child_a_choice_and_a_deadline_is_cancelled() throws Exception {
        // tag::register
        SagaDefinition<Order> order = saga -> order(saga); // typed: register(saga -> ...) alone does not compile
        SagaDefinition<Packing> packing = saga -> packing(saga);
        SagaEngine engine =
                SagaEngine.builder(rowlock).register(order).register(packing).build();
        // end::register
        try (Worker worker = worker(engine)) {
            worker.start();
            try (Connection connection = schema.begin()) {
                engine.sagas().start(connection, ORDER, "order-1", new Order(1, "", true));
                connection.commit();
            }
            await().atMost(ofMinutes(1)).until(() -> done.contains("courier"));
            // tag::cancel
            SagaCancellation answer = engine.sagas().cancel("order-1", new By("ann", "the guest called"));
            // end::cancel
            assertThat(answer).isEqualTo(SagaCancellation.ACCEPTED);
            reaches(engine, "order-1", SagaStatus.COMPENSATED);
        }
        assertThat(done).containsExactly("hold", "courier", "unpack box 7", "release");
    }

    @Test
    void steps_and_starts_work_through_an_entity_manager() throws Exception {
        try (EntityManagerFactory emf = Units.start(schema, Bill.class)) {
            SagaDefinition<Order> billing = saga -> saga.named("billing", Order.class)
                    .version(1)
                    .await(PAID, (order, how) -> order)
                    .within(ofDays(14))
                    .otherwise(Escalation.fail())
                    // tag::jpa-step
                    .step("write-bill") // commits together with the record of this step, or not at all
                    .transactional(JpaTransactions.of(emf), (order, step, em) -> {
                        em.persist(new Bill(order.number()));
                        return order;
                    })
                    .compensateTransactionally(
                            JpaTransactions.of(emf),
                            (order, step, em) -> em.remove(em.find(Bill.class, order.number())))
                    // end::jpa-step
                    .build();
            SagaEngine engine = SagaEngine.builder(rowlock).register(billing).build();
            Sagas sagas = engine.sagas();
            try (Worker worker = worker(engine)) {
                worker.start();
                EntityManager em = emf.createEntityManager();
                em.getTransaction().begin();
                // tag::jpa-start
                // in the transaction of an EntityManager: started, or signalled, if and only if that commits
                em.runWithConnection((Connection connection) -> {
                    sagas.start(connection, BILLING, "billing-1", new Order(1, "", false));
                    sagas.signal(connection, PAID, SagaTarget.saga("billing-1"), "by card");
                });
                // end::jpa-start
                em.getTransaction().commit();
                em.close();
                reaches(engine, "billing-1", SagaStatus.COMPLETED);
            }
            assertThat(schema.count("SELECT count(*) FROM bill")).isEqualTo(1);
        }
    }

    @Test
    void a_saga_of_an_older_version_is_forked_onto_the_newest() throws Exception {
        SagaDefinition<OldOrder> old = saga -> saga.named("returns", OldOrder.class)
                .version(1)
                .step("ask")
                .call((order, step) -> order)
                .noCompensation()
                .pivot("refund")
                .call((order, step) -> {
                    throw new PermanentFailure("no such account");
                })
                .build();
        SagaDefinition<Order> renewed = saga -> saga.named("returns", Order.class)
                // tag::upcast
                .version(2)
                .upcast(1, OldOrder.class, old1 -> new Order(old1.number(), "", false))
                // end::upcast
                .step("ask")
                .call((order, step) -> order)
                .noCompensation()
                .pivot("refund")
                .call((order, step) -> order)
                .build();
        SagaEngine first = SagaEngine.builder(rowlock).register(old).build();
        try (Worker worker = worker(first)) {
            worker.start();
            try (Connection connection = schema.begin()) {
                first.sagas()
                        .start(connection, SagaType.named("returns", OldOrder.class), "returns-1", new OldOrder(7));
                connection.commit();
            }
            reaches(first, "returns-1", SagaStatus.STUCK);
        }
        SagaEngine engine =
                SagaEngine.builder(rowlock).register(old).register(renewed).build();
        try (Worker worker = worker(engine)) {
            worker.start();
            assertThat(engine.operations().resolveWhole("returns-1", ANN)).isEqualTo(SagaAnswer.DONE);
            assertThat(engine.operations()
                            .fork("returns-1", "refund", "returns-2", ANN)
                            .outcome())
                    .isEqualTo(SagaFork.Outcome.FORKED);
            reaches(engine, "returns-2", SagaStatus.COMPLETED);
        }
    }

    private Worker worker(SagaEngine engine) {
        return rowlock.worker(config -> engine.on(config).poll(ofMillis(50)));
    }

    private static void reaches(SagaEngine engine, String id, SagaStatus status) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> engine.operations().get(id).orElseThrow().status() == status);
    }
}
