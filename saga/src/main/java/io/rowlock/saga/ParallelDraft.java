package io.rowlock.saga;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Parallel branches while their saga is written down. For one thread. */
final class ParallelDraft<S> extends NodeDraft<S> {
    private final List<Line<S>> branches;
    private boolean said;
    private @Nullable BranchJoin<S> join;

    ParallelDraft(@Nullable String name, List<Line<S>> branches) {
        super("parallel", name);
        this.branches = branches;
    }

    void join(BranchJoin<S> given) {
        said = true; // null is a mistake of its own
        join = once("join", join, given);
    }

    @Override
    List<Line<S>> lines() {
        return branches;
    }

    @Override
    void check(Place place, List<String> all) {
        if (branches.size() < 2) {
            all.add(title() + " needs at least two branches, got " + branches.size()
                    + ": add one, or put its steps on the line");
        }
        Line.checkNames(this, branches, all);
        for (Line<S> branch : branches) {
            if (branch.isEmpty()) {
                all.add(title() + " has an empty branch \"" + branch.name() + "\": give it a step, or remove it");
            }
            branch.check(place.in("branch \"" + branch.name() + "\" of " + title()), all);
        }
        checkSignals(all);
        if (!said) {
            all.add(title() + " has no join: add join(...), which makes one state of what its branches ended with");
        }
    }

    /** A signal is for one wait: of two that wait at once nobody could say which gets it. */
    private void checkSignals(List<String> all) {
        Map<String, Line<S>> waiting = new HashMap<>();
        for (Line<S> branch : branches) {
            TreeSet<String> signals = new TreeSet<>();
            branch.all().forEach(node -> {
                if (node instanceof AwaitDraft<S, ?> await && await.signal() != null) {
                    signals.add(await.signal().name());
                }
            });
            for (String signal : signals) {
                Line<S> other = waiting.putIfAbsent(signal, branch);
                if (other != null) {
                    all.add(title() + " waits for signal \"" + signal + "\" in branches \"" + other.name() + "\" and \""
                            + branch.name() + "\" at once: which of them gets it? Await it in one, or give the signals"
                            + " two names");
                }
            }
        }
    }

    @Override
    SagaNode<S> node() {
        return new SagaNode.Parallel<>(name(), branches.stream().map(Line::path).toList(), given(join));
    }
}
