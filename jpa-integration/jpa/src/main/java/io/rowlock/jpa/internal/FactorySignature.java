package io.rowlock.jpa.internal;

import io.rowlock.jpa.PayloadFactory;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks that a payload factory is for an entity, and finds the type of its payloads. */
final class FactorySignature {
    private final Class<? extends PayloadFactory<?, ?>> factory;
    private final Class<?> entity;
    private final String where;
    private final Set<Class<?>> entities;
    private final Problems problems;

    FactorySignature(
            Class<? extends PayloadFactory<?, ?>> factory,
            Class<?> entity,
            String where,
            Set<Class<?>> entities,
            Problems problems) {
        this.factory = factory;
        this.entity = entity;
        this.where = where;
        this.entities = entities;
        this.problems = problems;
    }

    /** The source, or null if the class cannot be one: then the reasons were added to the problems. */
    @Nullable
    PayloadFactoryBean source(BeanSource beans) {
        Type[] arguments = arguments(factory, Map.of());
        if (arguments[0] instanceof Class<?> of && !of.isAssignableFrom(entity)) {
            return problem("is for " + of.getSimpleName() + ", but named by " + entity.getSimpleName()
                    + "; name one that implements PayloadFactory<" + entity.getSimpleName() + ", ...>");
        }
        if (!beans.hasContainer() && !canBeMade()) {
            return problem("cannot be made: it must be a class that is not abstract, with a constructor without"
                    + " parameters; or let CDI make it, by the property jakarta.persistence.bean.manager, or Spring");
        }
        Class<?> payloadType =
                new PayloadType(entities, wrong -> problem(wrong.replaceFirst("^returns ", "makes "))).of(arguments[1]);
        return payloadType == null ? null : new PayloadFactoryBean(factory, payloadType, beans);
    }

    private boolean canBeMade() {
        return !factory.isInterface()
                && !Modifier.isAbstract(factory.getModifiers())
                && Arrays.stream(factory.getDeclaredConstructors())
                        .anyMatch(constructor -> constructor.getParameterCount() == 0);
    }

    /** What the class, or one it inherits from, gives for the two variables of PayloadFactory; no class can leave them out. */
    private static Type[] arguments(Type type, Map<Type, Type> known) {
        Class<?> raw = type instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : (Class<?>) type;
        Map<Type, Type> variables = new HashMap<>();
        if (type instanceof ParameterizedType generic) {
            for (int i = 0; i < raw.getTypeParameters().length; i++) {
                Type given = generic.getActualTypeArguments()[i];
                variables.put(raw.getTypeParameters()[i], known.getOrDefault(given, given));
            }
        }
        if (raw == PayloadFactory.class) {
            return new Type[] {variables.get(raw.getTypeParameters()[0]), variables.get(raw.getTypeParameters()[1])};
        }
        for (Type above : raw.getGenericInterfaces()) {
            if (PayloadFactory.class.isAssignableFrom(raw(above))) {
                return arguments(above, variables);
            }
        }
        return arguments(raw.getGenericSuperclass(), variables);
    }

    private static Class<?> raw(Type type) {
        return type instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : (Class<?>) type;
    }

    private @Nullable PayloadFactoryBean problem(String problem) {
        problems.add(where, "payload factory " + factory.getSimpleName() + " " + problem);
        return null;
    }
}
