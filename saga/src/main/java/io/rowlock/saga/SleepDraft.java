package io.rowlock.saga;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A sleep while its saga is written down. For one thread. */
final class SleepDraft<S> extends NodeDraft<S> {
    private final @Nullable SleepTime<S> time;

    SleepDraft(@Nullable String name, boolean complete, SleepTime<S> time) {
        super("sleep", name);
        this.time = once("its time", null, complete ? time : null);
        if (complete && time instanceof SleepTime.Fixed<S> fixed) {
            String mistake = durationMistake(fixed.duration(), CENTURY);
            if (mistake != null) {
                mistake("has a wrong duration: it " + mistake);
            }
        }
    }

    @Override
    void check(Place place, List<String> all) {}

    @Override
    SagaNode<S> node() {
        return new SagaNode.Sleep<>(name(), given(time));
    }
}
