package io.rowlock.jpa.internal;

import io.rowlock.jpa.EntityChange;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks that an annotated method can make payloads, and finds the type of these. */
final class PayloadSignature {
    private final Method method;
    private final Class<?> entity;
    private final String where;
    private final Set<Class<?>> entities;
    private final Problems problems;

    /** @param entity the class the method is called on, which may inherit it */
    PayloadSignature(Method method, Class<?> entity, String where, Set<Class<?>> entities, Problems problems) {
        this.method = method;
        this.entity = entity;
        this.where = where;
        this.entities = entities;
        this.problems = problems;
    }

    /** The source, or null if the method cannot be one: then the reasons were added to the problems. */
    @Nullable
    PayloadMethod source() {
        Class<?> payloadType = payloadType();
        boolean callable = takesChange() && payloadType != null;
        if (Modifier.isStatic(method.getModifiers())) {
            callable = problem(
                    "a payload method must not be static: it is called on the entity that changed; remove static");
        }
        return payloadType != null && callable && openable() ? new PayloadMethod(method, payloadType) : null;
    }

    /** Whether its only parameter, if it has any, can be the change. */
    private boolean takesChange() {
        if (method.getParameterCount() == 0) {
            return true;
        }
        Class<?> raw = method.getParameterTypes()[0];
        if (method.getParameterCount() > 1 || raw != EntityChange.class) {
            return problem("a payload method takes no parameter but an EntityChange<" + entity.getSimpleName()
                    + ">; for services, name a PayloadFactory in an annotation on the type");
        }
        Type parameter = method.getGenericParameterTypes()[0];
        Type of = parameter instanceof ParameterizedType generic ? generic.getActualTypeArguments()[0] : Object.class;
        if (of instanceof WildcardType any) {
            of = any.getUpperBounds()[0];
        }
        return !(of instanceof Class<?> changed)
                || changed.isAssignableFrom(entity)
                || problem("takes the change of a " + changed.getSimpleName() + ", but is called for those of "
                        + entity.getSimpleName() + "; declare EntityChange<" + entity.getSimpleName() + ">");
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
        Class<?> raw = method.getReturnType();
        Type held = PayloadType.held(raw, method.getGenericReturnType());
        if (held == null) {
            problem("returns a raw " + raw.getSimpleName() + "; write what it holds, such as " + raw.getSimpleName()
                    + "<OrderConfirmation>");
            return null;
        }
        return new PayloadType(entities, this::problem).of(held);
    }

    private boolean problem(String problem) {
        problems.add(where, problem);
        return false;
    }
}
