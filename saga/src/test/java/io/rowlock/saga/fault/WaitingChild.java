package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A process that drives sagas which wait for a signal, for time, or for too long. */
final class WaitingChild {
    static final SagaType<Purchase> SIGNAL = SagaType.named("signal", Purchase.class);
    static final SagaType<Purchase> TIMER = SagaType.named("timer", Purchase.class);
    static final SagaType<Purchase> DEADLINE = SagaType.named("deadline", Purchase.class);
    static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);

    private WaitingChild() {}

    static SagaDefinition<?>[] definitions(Books books) {
        SagaDefinition<Purchase> signal = saga -> charge(
                reserve(saga.named("signal", Purchase.class).version(1), books)
                        .await("wait", PAID, (purchase, sum) -> purchase.plus("paid"))
                        .within(Duration.ofDays(1))
                        .otherwise(Escalation.fail()),
                books);
        SagaDefinition<Purchase> timer = saga -> charge(
                reserve(saga.named("timer", Purchase.class).version(1), books).sleep("wait", Duration.ofHours(1)),
                books);
        SagaDefinition<Purchase> deadline = saga -> charge(
                reserve(saga.named("deadline", Purchase.class).version(1).deadline(Duration.ofHours(1)), books)
                        .await("wait", PAID, (purchase, sum) -> purchase.plus("paid"))
                        .within(Duration.ofDays(1))
                        .otherwise(Escalation.escalate()),
                books);
        return new SagaDefinition<?>[] {signal, timer, deadline};
    }

    private static SagaSteps<Purchase> reserve(SagaSteps<Purchase> saga, Books books) {
        return saga.step("reserve")
                .call((purchase, step) -> {
                    books.perform(step, purchase.amount());
                    return purchase;
                })
                .compensate((purchase, step) -> books.undo(step));
    }

    private static Saga<Purchase> charge(SagaSteps<Purchase> saga, Books books) {
        return saga.step("charge")
                .call((purchase, step) -> {
                    books.perform(step, purchase.amount());
                    return purchase;
                })
                .compensate((purchase, step) -> books.undo(step))
                .build();
    }

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        Books books = Books.existing(schema, arguments[1], "child");
        Rowlock rowlock = Scene.rowlock(schema, schema::connect);
        rowlock.worker(worker -> Scene.engine(rowlock, "default", definitions(books))
                        .on(worker)
                        .poll(Duration.ofMillis(50))
                        .lease(Scene.LEASE))
                .start();
        new CountDownLatch(1).await();
    }
}
