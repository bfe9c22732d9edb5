package io.rowlock.jpa.internal;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;

/** Finds out whether a declared type can be that of payloads. */
final class PayloadType {
    private final Set<Class<?>> entities;
    private final Consumer<String> problem;

    /** @param problem hears why not, as {@code returns …} */
    PayloadType(Set<Class<?>> entities, Consumer<String> problem) {
        this.entities = entities;
        this.problem = problem;
    }

    /** The class of payloads that are returned as this type, or null after a problem. */
    @Nullable
    Class<?> of(Type declared) {
        Class<?> type = declared instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : null;
        if (declared instanceof Class<?> plain) {
            type = plain;
        }
        String wrong =
                type == null ? "returns " + declared + "; declare a class, not a variable or a wildcard" : wrong(type);
        if (wrong != null) {
            problem.accept(wrong);
            return null;
        }
        return type;
    }

    private @Nullable String wrong(Class<?> type) {
        if (type == void.class || type == Void.class) {
            return "returns nothing; return the payload, a record with @Kind";
        } else if (type.isPrimitive()) {
            return "returns the primitive type " + type.getName() + "; return a record with @Kind";
        } else if (type == Object.class) {
            return "returns Object; declare the payload type, so that a handler can read it back";
        } else if (entities.stream().anyMatch(entity -> overlaps(type, entity))) {
            return "returns the entity " + type.getSimpleName() + " as payload, which would be written with all it"
                    + " refers to; return a record of ids and values";
        } else if (type.isArray() || isContainer(type)) {
            return "returns " + type.getSimpleName() + "; for several jobs return a List of the payload type";
        }
        return null;
    }

    /** Whether a value of the type could be the entity. */
    private static boolean overlaps(Class<?> type, Class<?> entity) {
        return entity.isAssignableFrom(type) || (type.isAssignableFrom(entity) && !type.isInterface());
    }

    private static boolean isContainer(Class<?> type) {
        return Iterable.class.isAssignableFrom(type)
                || BaseStream.class.isAssignableFrom(type)
                || type == Optional.class;
    }

    /** What an Optional or a List holds; any other type itself; null for a raw one. */
    static @Nullable Type held(Class<?> raw, Type declared) {
        if (raw != Optional.class && raw != List.class) {
            return declared;
        }
        return declared instanceof ParameterizedType generic ? generic.getActualTypeArguments()[0] : null;
    }
}
