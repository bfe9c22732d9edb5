package io.rowlock.saga.fault;

import static io.rowlock.job.RetryPolicy.fixed;

import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Choice;
import io.rowlock.saga.CompensationCall;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.OutcomeUnknown;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.StepCall;
import io.rowlock.saga.StepContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * Sagas of all sorts whose calls fail by chance, which saga, call and attempt decide: before or after their effect, for good,
 * or by hanging. From the pivot on, and in compensations, nothing fails for good.
 */
final class Mix {
    static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    static final SagaSignal<Integer> CONFIRMED = SagaSignal.named("confirmed", Integer.class);

    static final SagaType<Purchase> ORDER = type("order");
    static final SagaType<Purchase> WAIT = type("wait");
    static final SagaType<Purchase> PARTY = type("party");
    static final SagaType<Purchase> PARENT = type("parent");
    static final SagaType<Purchase> HURRY = type("hurry");
    static final SagaType<Purchase> SUB = type("sub");

    /** The steps whose effects the books hold of one that has completed, besides what it chose. */
    static final Map<String, List<String>> EFFECTS = Map.of(
            "order", List.of("charge", "reserve", "ship", "thank"),
            "wait", List.of("charge", "reserve", "ship", "thank"),
            "party", List.of("band", "cook", "ship", "sound", "thank"),
            "parent", List.of("reserve", "ship"),
            "hurry", List.of("charge", "reserve", "ship", "thank"),
            "sub", List.of("sub-charge", "sub-reserve"));

    private static final Duration TIMEOUT = Duration.ofMillis(800);
    private static final RetryPolicy OFTEN = fixed(Duration.ofMillis(30)).maxAttempts(200);
    private static final RetryPolicy SOMETIMES = fixed(Duration.ofMillis(30)).maxAttempts(4);
    private static final int CALM_FROM = 5;

    private final Books books;
    private final long seed;

    Mix(Books books, long seed) {
        this.books = books;
        this.seed = seed;
    }

    private static SagaType<Purchase> type(String name) {
        return SagaType.named(name, Purchase.class);
    }

    SagaDefinition<?>[] all() {
        return new SagaDefinition<?>[] {order(), await(), party(), parent(), hurry(), sub()};
    }

    private SagaDefinition<Purchase> order() {
        return saga -> {
            SagaSteps<Purchase> steps = charge(
                            reserve(saga.named("order", Purchase.class).version(1)))
                    .step("invoice")
                    .transactional((purchase, step, connection) -> {
                        chance(step, false, true);
                        books.inTransaction(step, connection, purchase.amount(), false);
                        return purchase;
                    })
                    .compensateTransactionally((purchase, step, connection) ->
                            books.inTransaction(step, connection, purchase.amount(), true))
                    .retry(SOMETIMES)
                    .timeout(TIMEOUT)
                    .retryCompensation(OFTEN);
            return thank(ship(steps)).build();
        };
    }

    private SagaDefinition<Purchase> await() {
        return saga -> {
            SagaSteps<Purchase> paid =
                    charge(reserve(saga.named("wait", Purchase.class).version(1).businessKey(Purchase::id))
                            .await(PAID, (purchase, sum) -> purchase.plus("paid"))
                            .within(Duration.ofSeconds(4))
                            .otherwise(Escalation.fail()));
            SagaSteps<Purchase> chosen = paid.choose(
                    "wrap",
                    Choice.when(
                            "gift", purchase -> purchase.trouble().equals("gift"), chain -> step(chain, "gift-wrap")),
                    Choice.otherwise());
            SagaSteps<Purchase> confirmed = chosen.await(CONFIRMED, (purchase, by) -> purchase.plus("confirmed"))
                    .within(Duration.ofSeconds(2))
                    .otherwise(Escalation.continueWith(purchase -> purchase));
            return thank(ship(confirmed).sleep("nap", Duration.ofMillis(100))).build();
        };
    }

    private SagaDefinition<Purchase> party() {
        return saga -> {
            SagaSteps<Purchase> joined = saga.named("party", Purchase.class)
                    .version(1)
                    .parallel(
                            "both",
                            Branch.branch("food", chain -> step(chain, "cook")),
                            Branch.branch(
                                    "music",
                                    chain -> step(step(chain, "band").sleep("pause", Duration.ofMillis(50)), "sound")))
                    .join((purchase, results) -> purchase.plus(
                            results.of("food").log() + "+" + results.of("music").log()));
            return thank(ship(joined)).build();
        };
    }

    private SagaDefinition<Purchase> parent() {
        return saga -> {
            SagaSteps<Purchase> child = reserve(
                            saga.named("parent", Purchase.class).version(1))
                    .child("sub", SUB)
                    .startedWith(purchase -> Purchase.of(purchase.id() + "/sub", ""))
                    .completed((purchase, sub) -> purchase.plus("sub"))
                    .compensate((purchase, step) -> books.undoAll(step, step.sagaId() + "/sub"))
                    .retryCompensation(OFTEN);
            return ship(child).build();
        };
    }

    private SagaDefinition<Purchase> sub() {
        return saga -> step(step(saga.named("sub", Purchase.class).version(1), "sub-reserve"), "sub-charge")
                .build();
    }

    private SagaDefinition<Purchase> hurry() {
        return saga -> {
            SagaSteps<Purchase> slept = reserve(
                            saga.named("hurry", Purchase.class).version(1).deadline(Duration.ofSeconds(3)))
                    .sleep(
                            "doze",
                            purchase -> Duration.ofMillis(
                                    Math.floorMod(purchase.id().hashCode(), 2000)));
            return thank(ship(charge(slept))).build();
        };
    }

    private SagaSteps<Purchase> reserve(SagaSteps<Purchase> saga) {
        return step(saga, "reserve");
    }

    private SagaSteps<Purchase> charge(SagaSteps<Purchase> saga) {
        return step(saga, "charge");
    }

    private SagaSteps<Purchase> step(SagaSteps<Purchase> saga, String name) {
        return saga.step(name)
                .call(call(true))
                .compensate(undo())
                .retry(SOMETIMES)
                .timeout(TIMEOUT)
                .retryCompensation(OFTEN);
    }

    private SagaSteps<Purchase> ship(SagaSteps<Purchase> saga) {
        return saga.pivot("ship").call(call(false)).retry(OFTEN).timeout(TIMEOUT);
    }

    private SagaSteps<Purchase> thank(SagaSteps<Purchase> saga) {
        return saga.step("thank").call(call(false)).retry(OFTEN).timeout(TIMEOUT);
    }

    private StepCall<Purchase> call(boolean mayFail) {
        return (purchase, step) -> {
            int chance = chance(step, false, mayFail);
            books.perform(step, purchase.amount());
            end(chance);
            return purchase.plus(step.step());
        };
    }

    private CompensationCall<Purchase> undo() {
        return (purchase, step) -> {
            int chance = chance(step, true, false);
            books.undo(step);
            end(chance);
        };
    }

    /** What may happen before the effect; the number says what happens after it. */
    private int chance(StepContext step, boolean undo, boolean mayFail) throws Exception {
        if (step.attempt() >= CALM_FROM) {
            return 100;
        }
        int chance = new Random(
                        seed ^ (step.sagaId() + step.step() + undo + step.attempt()).hashCode() * 0x9E3779B97F4A7C15L)
                .nextInt(100);
        if (chance < 5) {
            throw new IllegalStateException("by chance");
        } else if (chance < 6) {
            new CountDownLatch(1).await();
        } else if (chance < 9 && mayFail) {
            throw new PermanentFailure("for good, by chance");
        }
        return chance;
    }

    private static void end(int chance) throws InterruptedException {
        if (chance >= 10 && chance < 15) {
            throw new OutcomeUnknown("no answer, by chance", null);
        } else if (chance == 15) {
            new CountDownLatch(1).await();
        }
    }
}
