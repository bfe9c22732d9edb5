package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The sagas that are registered, by name and version. Immutable. */
public final class Definitions {
    private final Map<String, TreeMap<Integer, Saga<?>>> byName = new LinkedHashMap<>();

    public Definitions(Collection<Saga<?>> sagas) {
        for (Saga<?> saga : sagas) {
            Saga<?> other =
                    byName.computeIfAbsent(saga.name(), name -> new TreeMap<>()).putIfAbsent(saga.version(), saga);
            if (other != null) {
                throw new InvalidUseException(saga + " is registered twice: give one of them a new version");
            }
        }
    }

    /** Refuses children that could not be started, all at once: else that would show at run time, and undo their parents. */
    public void requireChildren() {
        List<String> mistakes = new ArrayList<>();
        all().forEach(saga -> children(saga, mistakes));
        if (!mistakes.isEmpty()) {
            throw new InvalidUseException(
                    "Sagas have children that cannot be started:\n- " + String.join("\n- ", mistakes));
        }
    }

    private <S> void children(Saga<S> saga, List<String> mistakes) {
        children(saga, saga.nodes(), mistakes);
    }

    private <S> void children(Saga<S> saga, List<SagaNode<S>> line, List<String> mistakes) {
        for (SagaNode<S> node : line) {
            if (node instanceof SagaNode.Child<S, ?> child) {
                try {
                    newest(child.type());
                } catch (InvalidUseException e) {
                    mistakes.add("child \"" + child.name() + "\" of " + saga + ": " + e.getMessage());
                }
            }
            node.paths().forEach(path -> children(saga, path.nodes(), mistakes));
        }
    }

    Collection<Saga<?>> all() {
        return byName.values().stream()
                .flatMap(versions -> versions.values().stream())
                .toList();
    }

    /** Of each name the newest. */
    Collection<Saga<?>> newest() {
        return byName.values().stream()
                .<Saga<?>>map(versions -> versions.lastEntry().getValue())
                .toList();
    }

    /** The newest of that name. */
    Optional<Saga<?>> newest(String name) {
        return Optional.ofNullable(byName.get(name))
                .map(versions -> versions.lastEntry().getValue());
    }

    Optional<Saga<?>> find(String name, int version) {
        return Optional.ofNullable(byName.get(name)).map(versions -> versions.get(version));
    }

    @SuppressWarnings("unchecked") // the state's class is compared
    <S> Saga<S> newest(SagaType<S> type) {
        if (type == null) {
            throw new InvalidUseException("The type of a saga must not be null");
        }
        TreeMap<Integer, Saga<?>> versions = byName.get(type.name());
        if (versions == null) {
            throw new InvalidUseException("No saga " + type.name() + " is registered; there are " + byName.keySet()
                    + ": call register(...) with its definition");
        }
        Saga<?> saga = versions.lastEntry().getValue();
        if (saga.stateType() != type.stateType()) {
            throw new InvalidUseException(
                    saga + " has states of " + saga.stateType().getName() + ", not of "
                            + type.stateType().getName());
        }
        return (Saga<S>) saga;
    }

    /**
     * The kind of the jobs that drive sagas of this definition: of name and version, so that a worker that has not got this
     * version leaves them to others (promise P12). Their payload is the saga's id.
     */
    static JobKind<String> driverKind(String name, int version) {
        return JobKind.named(SagaKeys.driverKind(name, version), String.class);
    }
}
