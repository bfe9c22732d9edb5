package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import java.time.Duration;

/**
 * The options of a step; any of the chain's methods goes on with the next. For one thread.
 *
 * @param <S> the saga's state
 */
public final class StepOptions<S> extends CompensationOptions<S, StepOptions<S>> {
    private final StepDraft<S> step;

    StepOptions(Line<S> line, StepDraft<S> step) {
        super(line, step.compensation());
        this.step = step;
    }

    /**
     * Sets when and how often a failed attempt is tried again before the step has failed for good.
     *
     * @param policy {@link RetryPolicy#standard()} if never set: 50 attempts, about a day
     * @return this
     */
    public StepOptions<S> retry(RetryPolicy policy) {
        step.retry(policy);
        return this;
    }

    /**
     * Limits each attempt of the step, and of its compensation: then its thread is interrupted and the attempt has ended
     * without an answer.
     *
     * @param limit 1 ms to 7 days; no limit by default
     * @return this
     */
    public StepOptions<S> timeout(Duration limit) {
        step.timeout(limit);
        return this;
    }

    /**
     * Leaves the step alone when it fails for good, even if one of its attempts ended without an answer (timeout, crash,
     * lost lease). By default its own compensation runs then too, as the step may have taken effect unseen. Only for
     * steps whose effect goes away by itself, such as a reservation that expires, or whose compensation cannot bear to
     * find nothing.
     *
     * @return this
     */
    public StepOptions<S> compensateOnlyWhenCompleted() {
        step.compensation().onlyWhenCompleted();
        return this;
    }

    @Override
    StepOptions<S> self() {
        return this;
    }
}
