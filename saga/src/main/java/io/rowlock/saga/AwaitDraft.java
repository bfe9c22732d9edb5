package io.rowlock.saga;

import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** A wait for a signal while its saga is written down. For one thread. */
final class AwaitDraft<S, T> extends NodeDraft<S> {
    private final @Nullable SagaSignal<T> signal;
    private final @Nullable BiFunction<S, T, S> received;
    private boolean timed;
    private boolean decided;
    private @Nullable Duration within;
    private @Nullable Escalation<S> otherwise;

    AwaitDraft(@Nullable String name, SagaSignal<T> signal, BiFunction<S, T, S> received) {
        super("await", name);
        this.signal = once("its signal", null, signal);
        this.received = once("its function", null, received);
    }

    @Nullable
    SagaSignal<T> signal() {
        return signal;
    }

    void within(Duration longest) {
        timed = true;
        within = once("within", within, longest, CENTURY);
    }

    void otherwise(Escalation<S> escalation) {
        decided = true;
        otherwise = once("otherwise", otherwise, escalation);
    }

    @Override
    void check(Place place, List<String> all) {
        if (!timed) {
            all.add(title() + " has no limit: add within(...) and otherwise(...), or the saga could wait for ever");
        } else if (!decided) {
            all.add(title() + " does not say what happens when its time is over: add otherwise(...)");
        }
        if (otherwise instanceof Escalation.Fail && place.afterPivot()) {
            all.add(title() + " comes after the pivot \"" + place.pivot()
                    + "\" and would fail, which cannot be undone any" + " more: use escalate() or continueWith(...)");
        }
    }

    @Override
    SagaNode<S> node() {
        return new SagaNode.Await<>(name(), given(signal), given(received), given(within), given(otherwise));
    }
}
