package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A step while its saga is written down. For one thread. */
final class StepDraft<S> extends NodeDraft<S> {
    private static final Duration LONGEST_ATTEMPT = Duration.ofDays(7);

    private final boolean pivot;
    private final CompensationDraft<S> compensation = new CompensationDraft<>(this);
    private boolean said;
    private @Nullable StepWork<S> work;
    private @Nullable RetryPolicy retry;
    private @Nullable Duration timeout;

    StepDraft(@Nullable String name, boolean pivot) {
        super(pivot ? "pivot" : "step", name);
        this.pivot = pivot;
    }

    boolean isPivot() {
        return pivot;
    }

    CompensationDraft<S> compensation() {
        return compensation;
    }

    void work(boolean complete, StepWork<S> given) {
        said = true; // null is a mistake of its own
        work = once("its work", work, complete ? given : null);
    }

    void retry(RetryPolicy policy) {
        retry = once("retry", retry, policy);
    }

    void timeout(Duration limit) {
        timeout = once("timeout", timeout, limit, LONGEST_ATTEMPT);
    }

    @Override
    void check(Place place, List<String> all) {
        if (!said) {
            all.add(title() + " has no work: add call(...) or transactional(...)");
        }
        String branch = place.branch();
        if (pivot && branch != null) {
            all.add(title() + " stands in " + branch + ": a pivot belongs on the main line, where every run passes it;"
                    + " move it before or after the branches, or make it a step");
            return;
        }
        compensation.check(place, pivot, all);
        if (compensation.isOnlyWhenCompleted() && work != null && !(work instanceof StepWork.Called)) {
            all.add(title()
                    + " is transactional and has compensateOnlyWhenCompleted(): the outcome of its transaction is"
                    + " always known; remove it");
        }
    }

    @Override
    SagaNode<S> node() {
        return new SagaNode.Step<>(
                name(),
                given(work),
                pivot,
                compensation.compensation(),
                retry == null ? RetryPolicy.standard() : retry,
                timeout);
    }
}
