package io.rowlock.saga.fault;

import io.rowlock.saga.OutcomeUnknown;
import io.rowlock.saga.StepContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Lets one call of a saga fail or hang, as its state says: {@code call:kind}. */
final class Trouble implements Around {
    private final Map<String, CountDownLatch> secondAttempts = new ConcurrentHashMap<>();

    /** What happens to the first attempt; but for those that say otherwise. */
    enum Kind {
        FAILS_BEFORE,
        /** And so does the second attempt. */
        FAILS_TWICE_BEFORE,
        FAILS_AFTER,
        HANGS_BEFORE,
        HANGS_AFTER,
        /** It is deaf to the interrupt, and takes effect when the second attempt is over. */
        HANGS_DEAF,
        /** Every attempt, before its effect. */
        FAILS_FOR_GOOD
    }

    static String of(String call, Kind kind) {
        return call + ':' + kind;
    }

    @Override
    public void before(String call, Purchase purchase, StepContext step) throws Exception {
        Kind kind = kind(call, purchase);
        if (kind == Kind.FAILS_FOR_GOOD
                || (kind == Kind.FAILS_BEFORE && step.attempt() == 1)
                || (kind == Kind.FAILS_TWICE_BEFORE && step.attempt() <= 2)) {
            throw new IllegalStateException("fails as told");
        } else if (kind == Kind.HANGS_BEFORE && step.attempt() == 1) {
            new CountDownLatch(1).await();
        } else if (kind == Kind.HANGS_DEAF && step.attempt() == 1) {
            Gates.awaitDeaf(secondAttempt(call, step));
        }
    }

    @Override
    public void after(String call, Purchase purchase, StepContext step) throws Exception {
        Kind kind = kind(call, purchase);
        if (step.attempt() > 1) {
            secondAttempt(call, step).countDown();
        } else if (kind == Kind.FAILS_AFTER) {
            throw new OutcomeUnknown("no answer, as told", null);
        } else if (kind == Kind.HANGS_AFTER) {
            new CountDownLatch(1).await();
        }
    }

    private CountDownLatch secondAttempt(String call, StepContext step) {
        return secondAttempts.computeIfAbsent(step.sagaId() + call, absent -> new CountDownLatch(1));
    }

    private static Kind kind(String call, Purchase purchase) {
        String[] parts = purchase.trouble().split(":", 2);
        return parts[0].equals(call) ? Kind.valueOf(parts[1]) : null;
    }
}
