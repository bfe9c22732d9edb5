package io.rowlock.jpa.internal;

import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;

/** Checks that an annotated method can make payloads, and finds the type of these. */
final class PayloadSignature {
    private final Method method;
    private final String where;
    private final Set<Class<?>> entities;
    private final Problems problems;

    PayloadSignature(Method method, String where, Set<Class<?>> entities, Problems problems) {
        this.method = method;
        this.where = where;
        this.entities = entities;
        this.problems = problems;
    }

    /** The source, or null if the method cannot be one: then the reasons were added to the problems. */
    @Nullable
    PayloadMethod source() {
        Class<?> payloadType = payloadType();
        boolean callable = payloadType != null;
        if (method.getParameterCount() > 0) {
            callable = problem("a payload method takes no parameter, but this takes " + method.getParameterCount());
        }
        if (Modifier.isStatic(method.getModifiers())) {
            callable = problem("a payload method must not be static: it is called on the entity that changed");
        }
        if (payloadType == null || !callable || !openable()) {
            return null;
        }
        return new PayloadMethod(method, payloadType);
    }

    private boolean openable() {
        try {
            method.setAccessible(true);
            return true;
        } catch (InaccessibleObjectException e) {
            String opened = method.getDeclaringClass().getPackageName();
            return problem("cannot be called from module io.rowlock.jpa; write `opens " + opened
                    + " to io.rowlock.jpa;` into the module-info of the entity");
        }
    }

    private @Nullable Class<?> payloadType() {
        Type returned = method.getGenericReturnType();
        Class<?> raw = method.getReturnType();
        boolean wrapped = raw == Optional.class || raw == List.class;
        if (wrapped && !(returned instanceof ParameterizedType)) {
            problem("returns a raw " + raw.getSimpleName() + "; write what it holds, such as " + raw.getSimpleName()
                    + "<OrderConfirmation>");
            return null;
        }
        Type payload = wrapped ? ((ParameterizedType) returned).getActualTypeArguments()[0] : returned;
        Class<?> type = payload instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : null;
        if (payload instanceof Class<?> plain) {
            type = plain;
        }
        if (type == null) {
            problem("returns " + returned + "; the payload type must be a class and not a variable or a wildcard");
            return null;
        }
        return checked(type);
    }

    private @Nullable Class<?> checked(Class<?> type) {
        String wrong = null;
        if (type == void.class || type == Void.class) {
            wrong = "returns nothing; a payload method returns the payload";
        } else if (type.isPrimitive()) {
            wrong = "returns the primitive type " + type.getName() + "; return a record with @Kind";
        } else if (type == Object.class) {
            wrong = "returns Object; declare the payload type, so that a handler can read it back";
        } else if (entities.stream().anyMatch(entity -> overlaps(type, entity))) {
            wrong = "returns the entity " + type.getSimpleName() + " as payload, which would be written with all it"
                    + " refers to; return a record of ids and values";
        } else if (type.isArray() || isContainer(type)) {
            wrong = "returns " + type.getSimpleName() + "; for several jobs return a List of the payload type";
        }
        if (wrong != null) {
            problem(wrong);
            return null;
        }
        return type;
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

    private boolean problem(String problem) {
        problems.add(where, problem);
        return false;
    }
}
