package io.rowlock.internal.outbox;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The kinds one Rowlock has met: a name stands for one payload type and one version of it only. Filled by enqueues,
 * handlers and entity annotations; it holds no job, only names and types.
 */
public final class Kinds {
    private final Map<String, Meaning> meanings = new ConcurrentHashMap<>();

    private record Meaning(Class<?> type, int version) {}

    /** Notes the kind, or refuses it if its name or an alias stands for another payload type or version already. */
    public void register(JobKind<?> kind) {
        register(kind.name(), kind);
        kind.aliases().forEach(alias -> register(alias, kind));
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
