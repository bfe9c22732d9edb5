package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.Failures;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.StepWork;
import io.rowlock.saga.internal.sql.StepRow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Decides what becomes of a saga whose step, or whose compensation, failed. Changes the instance only. */
final class Verdict<S> {
    private static final int LONGEST_ERROR = 4_000;
    private static final int LONGEST_REASON = 1_500;
    private static final String COMPENSATION_OF = "compensation of ";

    private final Instance<S> saga;
    private @Nullable String failed;

    Verdict(Instance<S> saga) {
        this.saga = saga;
    }

    /** An attempt of a step threw, or took too long. */
    void failed(Step<S> step, StepRow attempt, Throwable thrown) {
        if (thrown instanceof Snooze snooze) {
            saga.put(attempt.unused().become(StepStatus.RETRYING, saga.in(snooze.delay())));
            return;
        }
        boolean open =
                step.work() instanceof StepWork.Called<S> ? Unanswered.by(thrown) : Unanswered.saysItself(thrown);
        StepRow row = open ? attempt.withoutAnswer() : attempt;
        if (!step.retry().retries(thrown)
                || row.counts().attempts() >= step.retry().maxAttempts()) {
            failedForGood(step, row, words(thrown));
        } else {
            Duration delay = delay(step.retry(), row.counts().attempts(), thrown);
            saga.put(row.error(words(thrown)).become(StepStatus.RETRYING, saga.in(delay)));
        }
        keepFree(step, thrown);
    }

    /** The thread of an attempt that took too long may still run: as long as its lease would have lasted, nothing else does. */
    private void keepFree(SagaNode<S> node, Throwable thrown) {
        StepRow row = saga.step(node.name());
        if (row != null && thrown instanceof TookTooLongException late) {
            saga.put(row.free(saga.in(late.lease())));
        }
    }

    /** No retry can help: before the pivot all is undone, from the pivot on a person is needed. */
    void failedForGood(SagaNode<S> node, StepRow row, String why) {
        saga.end(row.error(why), StepStatus.FAILED);
        if (saga.status() != SagaStatus.RUNNING) {
            return; // it goes back already, and says why
        }
        turn(node.name(), why);
    }

    /** Where a person is needed: at what has failed, though another branch may have moved since. */
    void standAtFailed() {
        if (failed != null) {
            saga.standAt(failed);
        }
    }

    private void turn(String step, @Nullable String why) {
        failed = step;
        saga.status(
                saga.pivoted() ? SagaStatus.STUCK : SagaStatus.COMPENSATING,
                Failures.cut(step + ": " + why, LONGEST_REASON));
    }

    /** A step has failed for good whose driver was lost before its other branches had ended, and with them its saga. */
    void turnIfFailed() {
        for (StepRow row : saga.steps()) {
            if (row.status() == StepStatus.FAILED && saga.status() == SagaStatus.RUNNING) {
                turn(row.key().step(), row.outcome().error());
            }
        }
    }

    /** An attempt of a compensation threw, or took too long. */
    void compensationFailed(SagaNode<S> node, RetryPolicy retry, StepRow attempt, Throwable thrown) {
        if (thrown instanceof Snooze snooze) {
            saga.put(attempt.unused().become(StepStatus.COMPENSATING, saga.in(snooze.delay())));
            return;
        }
        int attempts = attempt.counts().compensations();
        if (!retry.retries(thrown) || attempts >= retry.maxAttempts()) {
            compensationFailedForGood(node, attempt, words(thrown));
        } else {
            Duration delay = delay(retry, attempts, thrown);
            saga.put(attempt.error(words(thrown)).become(StepStatus.COMPENSATING, saga.in(delay)));
        }
        keepFree(node, thrown);
    }

    /** A person is needed. */
    void compensationFailedForGood(SagaNode<S> node, StepRow row, String why) {
        saga.put(row.error(why).become(StepStatus.COMPENSATION_FAILED, null));
        String turned = whyItTurned(saga.progress().reason());
        String failed = COMPENSATION_OF + node.name() + ": " + why;
        saga.status(
                SagaStatus.COMPENSATION_FAILED,
                turned == null
                        ? Failures.cut(failed, LONGEST_REASON)
                        : Failures.cut(turned, LONGEST_REASON / 2) + "; " + Failures.cut(failed, LONGEST_REASON / 2));
    }

    /** The reason for which it is undone, without that of a compensation that failed. */
    static @Nullable String whyItTurned(@Nullable String reason) {
        int end = reason == null ? -1 : reason.indexOf("; " + COMPENSATION_OF);
        return end < 0 ? reason : reason.substring(0, end);
    }

    /** What people read of a throwable; only what a text column stores. */
    static String words(Throwable thrown) {
        if (thrown instanceof TookTooLongException late) {
            return String.valueOf(late.getMessage());
        }
        Failure failure = Failures.failure(thrown);
        return Failures.cut(failure.errorClass() + ": " + failure.message(), LONGEST_ERROR);
    }

    private static Duration delay(RetryPolicy policy, int attempt, Throwable thrown) {
        return thrown instanceof RetryAfter after ? after.delay() : policy.delay(attempt, thrown);
    }
}
