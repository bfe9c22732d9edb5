package io.rowlock.internal.outbox;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The kinds one Rowlock has met: a name stands for one payload type only. Filled by enqueues, handlers and entity
 * annotations; it holds no job, only names and types.
 */
public final class Kinds {
    private final Map<String, Class<?>> types = new ConcurrentHashMap<>();

    /** Notes the kind, or refuses it if its name or an alias stands for another payload type already. */
    public void register(JobKind<?> kind) {
        register(kind.name(), kind.payloadType());
        kind.aliases().forEach(alias -> register(alias, kind.payloadType()));
    }

    private void register(String name, Class<?> type) {
        Class<?> known = types.putIfAbsent(name, type);
        if (known != null && known != type) {
            throw new InvalidUseException("Kind " + name + " stands for two payload types, " + known.getName() + " and "
                    + type.getName() + "; give one of them another name");
        }
    }
}
