package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A saga while it is written down: takes what it is given, right or wrong, and names all mistakes at {@code build()}. For
 * one thread.
 */
final class SagaDraft<S> {
    private static final int MOST_NODES = 1_000;

    private final String name;
    private final @Nullable Class<S> stateType;
    private final List<String> mistakes = new ArrayList<>();
    private final Line<S> main;
    private final List<SagaStarter<?, S>> starters = new ArrayList<>();
    private final Map<Integer, StateUpcast<?, S>> upcasts = new LinkedHashMap<>();
    private int version;
    private @Nullable Function<S, String> businessKey;
    private @Nullable Duration deadline;

    SagaDraft(@Nullable String name, @Nullable Class<S> stateType) {
        this.name = String.valueOf(name);
        this.stateType = stateType;
        this.main = new Line<>(this, "main");
        String mistake = Names.mistake(name);
        if (mistake != null) {
            mistakes.add("the saga has a wrong name: it " + mistake);
        }
        if (stateType == null) {
            mistakes.add("the saga has no state type: give its class to named(name, type)");
        }
    }

    Line<S> main() {
        return main;
    }

    void version(int given) {
        version = given;
        if (given < 1 || given > 1_000_000) {
            mistakes.add("the version must be between 1 and 1000000, got " + given);
        }
    }

    <T> void startedBy(Class<T> payloadType, Function<T, S> state) {
        try {
            startedBy(JobKind.of(payloadType), state);
        } catch (InvalidUseException e) {
            mistakes.add("startedBy: " + e.getMessage());
        }
    }

    <T> void startedBy(@Nullable JobKind<T> kind, @Nullable Function<T, S> state) {
        if (kind == null || state == null) {
            mistakes.add("startedBy has null for " + (kind == null ? "its kind" : "its function") + ": give one");
        } else if (starters.stream().anyMatch(other -> other.kind().name().equals(kind.name()))) {
            mistakes.add("the saga is started by kind \"" + kind.name() + "\" twice: keep one of them");
        } else {
            starters.add(new SagaStarter<>(kind, state));
        }
    }

    void businessKey(@Nullable Function<S, String> key) {
        checkOnce("businessKey", businessKey, key);
        businessKey = key;
    }

    void deadline(@Nullable Duration longest) {
        checkOnce("deadline", deadline, longest);
        String mistake = longest == null ? null : NodeDraft.durationMistake(longest, NodeDraft.CENTURY);
        if (mistake != null) {
            mistakes.add("the deadline " + mistake);
        }
        deadline = longest;
    }

    <O> void upcast(int from, @Nullable Class<O> oldType, @Nullable Function<O, S> state) {
        if (from < 1 || from >= version) {
            mistakes.add("upcast must be from a version between 1 and the one before this, got " + from
                    + " for version " + version);
        }
        if (oldType == null || state == null) {
            mistakes.add("upcast from version " + from + " has null for "
                    + (oldType == null ? "the class" : "the function") + ": give one");
        } else if (upcasts.putIfAbsent(from, new StateUpcast<>(from, oldType, state)) != null) {
            mistakes.add("the saga has two upcasts from version " + from + ": keep one of them");
        }
    }

    Saga<S> build() {
        List<String> all = new ArrayList<>(mistakes);
        checkNodes(all);
        if (!all.isEmpty()) {
            throw new InvalidSagaException(name, all);
        }
        return new Saga<>(
                new Saga.Head<>(
                        name, version, NodeDraft.given(stateType), starters, businessKey, deadline, upcasts.values()),
                main.path().nodes());
    }

    private void checkNodes(List<String> all) {
        if (main.isEmpty()) {
            all.add("the saga has no steps: add step(name)");
        }
        long number = main.all().count();
        if (number > MOST_NODES) {
            all.add("the saga has " + number + " steps and other parts, more than " + MOST_NODES
                    + ": give some to child sagas");
        }
        checkMainLine(all);
        checkNames(all);
        checkSignals(all);
    }

    private void checkMainLine(List<String> all) {
        String pivot = main.nodes().stream()
                .filter(SagaDraft::isPivot)
                .map(NodeDraft::name)
                .findFirst()
                .orElse(null);
        boolean after = false;
        for (NodeDraft<S> node : main.nodes()) {
            Line.checkNode(node, new Place(null, pivot, after), all);
            if (isPivot(node) && after) {
                all.add(node.title() + " is a second pivot after \"" + pivot
                        + "\": a saga turns once; make one of them a step");
            }
            after |= isPivot(node);
        }
    }

    private static boolean isPivot(NodeDraft<?> node) {
        return node instanceof StepDraft<?> step && step.isPivot();
    }

    private void checkNames(List<String> all) {
        Set<String> seen = new HashSet<>();
        Set<String> told = new HashSet<>();
        main.all().forEach(node -> {
            if (!seen.add(node.name()) && told.add(node.name())) {
                all.add(node.title() + " has a name that is used before: names are unique in the whole saga, branches"
                        + " included; rename one");
            }
        });
    }

    private void checkSignals(List<String> all) {
        Map<String, Class<?>> types = new HashMap<>();
        main.all().forEach(node -> {
            if (node instanceof AwaitDraft<S, ?> await && await.signal() != null) {
                SagaSignal<?> signal = await.signal();
                Class<?> other = types.putIfAbsent(signal.name(), signal.payloadType());
                if (other != null && other != signal.payloadType()) {
                    all.add(node.title() + " awaits signal \"" + signal.name() + "\" as "
                            + signal.payloadType().getName() + ", which is " + other.getName()
                            + " before: use one constant for both");
                }
            }
        });
    }

    private void checkOnce(String option, @Nullable Object present, @Nullable Object given) {
        if (given == null) {
            mistakes.add(option + " is null: give one, or leave it out");
        } else if (present != null) {
            mistakes.add("the saga has " + option + " twice: keep one of them");
        }
    }
}
