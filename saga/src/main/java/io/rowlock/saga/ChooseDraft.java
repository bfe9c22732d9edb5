package io.rowlock.saga;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A choice while its saga is written down. For one thread. */
final class ChooseDraft<S> extends NodeDraft<S> {
    private final List<Case<S>> cases = new ArrayList<>();

    /** One option; {@code when} is null for the otherwise. */
    private record Case<S>(@Nullable Predicate<S> when, boolean isOtherwise, Line<S> line) {}

    ChooseDraft(@Nullable String name) {
        super("choose", name);
    }

    void add(@Nullable Predicate<S> when, boolean isOtherwise, Line<S> line) {
        if (when == null && !isOtherwise) {
            mistake("has null for the condition of \"" + line.name() + "\": give one");
        }
        cases.add(new Case<>(when, isOtherwise, line));
    }

    @Override
    List<Line<S>> lines() {
        return cases.stream().map(Case::line).toList();
    }

    @Override
    void check(Place place, List<String> all) {
        if (cases.isEmpty() || cases.get(0).isOtherwise()) {
            all.add(title() + " has nothing to choose from: begin with when(...)");
        }
        if (cases.stream().noneMatch(Case::isOtherwise)) {
            all.add(title() + " does not say what happens when no condition holds: end it with otherwise(...), or"
                    + " otherwise() to go on");
        }
        checkOrder(all);
        Line.checkNames(this, reachable(), all);
        for (Case<S> each : cases) {
            each.line().check(place.in("branch \"" + each.line().name() + "\" of " + title()), all);
        }
    }

    /** The lines up to the first otherwise: what comes after it is a mistake already. */
    private List<Line<S>> reachable() {
        List<Line<S>> lines = new ArrayList<>();
        for (Case<S> each : cases) {
            lines.add(each.line());
            if (each.isOtherwise()) {
                break;
            }
        }
        return lines;
    }

    private void checkOrder(List<String> all) {
        boolean ended = false;
        for (Case<S> each : cases) {
            if (ended) {
                all.add(title() + " can never reach branch \"" + each.line().name() + "\", which comes after otherwise:"
                        + " put otherwise last, once");
            }
            ended |= each.isOtherwise();
        }
    }

    @Override
    SagaNode<S> node() {
        List<SagaNode.Option<S>> options = cases.stream()
                .filter(each -> !each.isOtherwise())
                .map(each ->
                        new SagaNode.Option<>(given(each.when()), each.line().path()))
                .toList();
        return new SagaNode.Choose<>(
                name(), options, cases.get(cases.size() - 1).line().path());
    }
}
