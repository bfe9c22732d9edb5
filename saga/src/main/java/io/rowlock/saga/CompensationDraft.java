package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was said about undoing one node, while its saga is written down. For one thread. */
final class CompensationDraft<S> {
    private final NodeDraft<S> owner;
    private Compensation.@Nullable Work<S> work;
    private @Nullable RetryPolicy retry;
    private boolean nothing;
    private boolean said;
    private boolean onlyWhenCompleted;

    CompensationDraft(NodeDraft<S> owner) {
        this.owner = owner;
    }

    void work(boolean complete, Compensation.Work<S> given) {
        said = true; // null is a mistake of its own
        work = owner.once("compensation", work, complete ? given : null);
    }

    void retry(RetryPolicy policy) {
        retry = owner.once("retryCompensation", retry, policy);
    }

    void nothing() {
        said = true;
        nothing = true;
    }

    void onlyWhenCompleted() {
        onlyWhenCompleted = true;
    }

    boolean isOnlyWhenCompleted() {
        return onlyWhenCompleted;
    }

    /** The rules of section "compensation" of {@link Saga}. */
    void check(Place place, boolean isPivot, List<String> all) {
        if (isPivot || place.afterPivot()) {
            if (work != null) {
                all.add(owner.title() + (isPivot ? " is the pivot" : " comes after the pivot \"" + place.pivot() + "\"")
                        + " and has a compensation, which would never run, as the saga only goes forward from its pivot"
                        + " on: remove it, or make a later step the pivot");
            }
        } else if (work == null && !said) {
            all.add(owner.title()
                    + (place.pivot() == null ? "" : " comes before the pivot \"" + place.pivot() + "\" and")
                    + " has no compensation: add compensate(...), or noCompensation() if there is nothing to undo");
        }
        if (work != null && nothing) {
            all.add(owner.title() + " has a compensation and noCompensation(): keep one of them");
        }
        if (work == null && retry != null) {
            all.add(owner.title() + " has retryCompensation(...) but no compensation: remove it");
        }
        if (work == null && onlyWhenCompleted) {
            all.add(owner.title() + " has compensateOnlyWhenCompleted() but no compensation: remove it");
        }
    }

    @Nullable
    Compensation<S> compensation() {
        return work == null
                ? null
                : new Compensation<>(work, retry == null ? RetryPolicy.standard() : retry, onlyWhenCompleted);
    }
}
