package io.rowlock.saga.fault;

import static io.rowlock.job.RetryPolicy.fixed;

import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.CompensationCall;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.StepCall;
import io.rowlock.saga.TransactionalCompensationCall;
import io.rowlock.saga.TransactionalStepCall;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** Three sagas of five steps, whose calls stand in {@link Books}. */
final class Shop {
    static final SagaType<Purchase> BUY = SagaType.named("buy", Purchase.class);
    static final SagaType<Purchase> FAIL = SagaType.named("fail", Purchase.class);
    static final SagaType<Purchase> ONCE = SagaType.named("once", Purchase.class);

    static final List<String> BUY_STEPS = List.of("reserve", "charge", "invoice", "ship", "thank");
    static final List<String> FAIL_STEPS = List.of("reserve", "charge", "invoice", "pack", "hand-over");

    private static final RetryPolicy OFTEN = fixed(Duration.ofMillis(20)).maxAttempts(8);

    private final Books books;
    private final Around around;
    private final Duration timeout;

    /** @param timeout of each attempt; one that takes longer costs a lease */
    Shop(Books books, Around around, Duration timeout) {
        this.books = books;
        this.around = around;
        this.timeout = timeout;
    }

    /** Goes through: two steps that are called, one transactional, the pivot, and one after it. */
    SagaDefinition<Purchase> buy() {
        return saga -> saga.named(BUY.name(), Purchase.class)
                .version(1)
                .step("reserve")
                .call(call())
                .compensate(undo())
                .retry(OFTEN)
                .timeout(timeout)
                .step("charge")
                .call(call())
                .compensate(undo())
                .retry(OFTEN)
                .timeout(timeout)
                .step("invoice")
                .transactional(inTransaction())
                .compensateTransactionally(undoInTransaction())
                .retry(OFTEN)
                .timeout(timeout)
                .pivot("ship")
                .call(call())
                .retry(OFTEN)
                .timeout(timeout)
                .step("thank")
                .call(call())
                .retry(OFTEN)
                .timeout(timeout)
                .build();
    }

    /** Its fifth step fails for good, and all are undone. */
    SagaDefinition<Purchase> fail() {
        return saga -> saga.named(FAIL.name(), Purchase.class)
                .version(1)
                .step("reserve")
                .call(call())
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(OFTEN)
                .timeout(timeout)
                .step("charge")
                .call(call())
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(OFTEN)
                .timeout(timeout)
                .step("invoice")
                .transactional(inTransaction())
                .compensateTransactionally(undoInTransaction())
                .retryCompensation(OFTEN)
                .retry(OFTEN)
                .timeout(timeout)
                .step("pack")
                .call(call())
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(OFTEN)
                .timeout(timeout)
                .step("hand-over")
                .call((purchase, step) -> {
                    around.before(step.step(), purchase, step);
                    around.after(step.step(), purchase, step);
                    throw new PermanentFailure("nobody is there");
                })
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(OFTEN)
                .timeout(timeout)
                .build();
    }

    /** Like the first, and before the pivot each step has one attempt only. */
    SagaDefinition<Purchase> once() {
        RetryPolicy once = fixed(Duration.ZERO).maxAttempts(1);
        return saga -> saga.named(ONCE.name(), Purchase.class)
                .version(1)
                .step("reserve")
                .call(call())
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(once)
                .step("charge")
                .call(call())
                .compensate(undo())
                .retryCompensation(OFTEN)
                .retry(once)
                .step("invoice")
                .transactional(inTransaction())
                .compensateTransactionally(undoInTransaction())
                .retryCompensation(OFTEN)
                .retry(once)
                .pivot("ship")
                .call(call())
                .retry(OFTEN)
                .step("thank")
                .call(call())
                .retry(OFTEN)
                .build();
    }

    /** All three. */
    SagaDefinition<?>[] all() {
        return new SagaDefinition<?>[] {buy(), fail(), once()};
    }

    private StepCall<Purchase> call() {
        return (purchase, step) -> {
            around.before(Around.name(step, false), purchase, step);
            books.perform(step, purchase.amount());
            around.after(Around.name(step, false), purchase, step);
            return purchase.plus(step.step());
        };
    }

    private CompensationCall<Purchase> undo() {
        return (purchase, step) -> {
            around.before(Around.name(step, true), purchase, step);
            books.undo(step);
            around.after(Around.name(step, true), purchase, step);
        };
    }

    private TransactionalStepCall<Purchase, Connection> inTransaction() {
        return (purchase, step, connection) -> {
            around.before(Around.name(step, false), purchase, step);
            books.inTransaction(step, connection, purchase.amount(), false);
            around.after(Around.name(step, false), purchase, step);
            return purchase.plus(step.step());
        };
    }

    private TransactionalCompensationCall<Purchase, Connection> undoInTransaction() {
        return (purchase, step, connection) -> {
            around.before(Around.name(step, true), purchase, step);
            books.inTransaction(step, connection, purchase.amount(), true);
            around.after(Around.name(step, true), purchase, step);
        };
    }
}
