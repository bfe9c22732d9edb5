package io.rowlock.jpa.internal;

import io.rowlock.job.JobKind;
import java.util.HashMap;
import java.util.Map;

/** The kinds of one persistence unit: each name stands for one payload type. */
final class UnitKinds {
    private record Use(Class<?> type, String where) {}

    private final Map<String, Use> uses = new HashMap<>();
    private final Problems problems;

    UnitKinds(Problems problems) {
        this.problems = problems;
    }

    void register(JobKind<?> kind, String where) {
        register(kind.name(), kind.payloadType(), where);
        kind.aliases().forEach(alias -> register(alias, kind.payloadType(), where));
    }

    private void register(String name, Class<?> type, String where) {
        Use known = uses.putIfAbsent(name, new Use(type, where));
        if (known != null && known.type() != type) {
            problems.add(
                    where,
                    "kind " + name + " stands for payload type " + type.getName() + " here, and for "
                            + known.type().getName() + " in " + known.where() + "; give one of them another kind");
        }
    }
}
