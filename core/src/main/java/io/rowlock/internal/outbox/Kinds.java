package io.rowlock.internal.outbox;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Stream;

/**
 * The kinds one Rowlock has met: a name stands for one payload type and one version of it only. Filled by enqueues,
 * handlers and entity annotations; it holds no job, only names and types.
 */
public final class Kinds {
    private final Map<String, Meaning> meanings = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> aliases = new ConcurrentHashMap<>();

    private record Meaning(Class<?> type, int version) {}

    /** Notes the kind, or refuses it if its name or an alias stands for another payload type or version already. */
    public void register(JobKind<?> kind) {
        register(kind.name(), kind);
        kind.aliases().forEach(alias -> register(alias, kind));
        if (!kind.aliases().isEmpty()) {
            aliases.computeIfAbsent(kind.name(), name -> new ConcurrentSkipListSet<>())
                    .addAll(kind.aliases());
        }
    }

    /** The names under which rows of a kind may stand: its own, and the older ones that were met here. */
    public List<String> namesOf(String kind) {
        return Stream.concat(Stream.of(kind), aliases.getOrDefault(kind, Set.of()).stream())
                .distinct()
                .toList();
    }

    private void register(String name, JobKind<?> kind) {
        Meaning known = meanings.get(name);
        if (known == null) {
            known = meanings.putIfAbsent(name, new Meaning(kind.payloadType(), kind.version()));
        }
        if (known == null) {
            return;
        }
        if (known.type() != kind.payloadType()) {
            throw new InvalidUseException("Kind " + name + " stands for two payload types, "
                    + known.type().getName() + " and " + kind.payloadType().getName()
                    + "; give one of them another name");
        }
        if (known.version() != kind.version()) {
            throw new InvalidUseException("Kind " + name + " has two versions in one Rowlock, " + known.version()
                    + " and " + kind.version() + "; give it the same wherever it is written or handled");
        }
    }
}
