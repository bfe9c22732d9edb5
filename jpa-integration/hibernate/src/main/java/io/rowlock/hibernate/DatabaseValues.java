package io.rowlock.hibernate;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.hibernate.annotations.SourceType;
import org.hibernate.annotations.ValueGenerationType;
import org.hibernate.generator.EventType;
import org.hibernate.generator.OnExecutionGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Finds attributes whose values the database makes at updates, by their annotations: the boot model does not tell them
 * from those that Hibernate makes, and the runtime model, which does, comes after the annotations are read.
 */
final class DatabaseValues {
    private DatabaseValues() {}

    /** Whether an attribute of a class or its superclasses is one. */
    static boolean areMadeAtUpdates(Class<?> owner, String attribute) {
        Stream<AnnotatedElement> members = Stream.of();
        for (Class<?> each = owner; each != null && each != Object.class; each = each.getSuperclass()) {
            members = Stream.concat(
                    members,
                    Stream.concat(
                            Arrays.stream(each.getDeclaredFields())
                                    .filter(field -> field.getName().equals(attribute)),
                            Arrays.stream(each.getDeclaredMethods()).filter(method -> isGetter(method, attribute))));
        }
        return members.flatMap(member -> Arrays.stream(member.getAnnotations())).anyMatch(DatabaseValues::isOfUpdates);
    }

    private static boolean isGetter(Method method, String attribute) {
        String name = method.getName();
        int prefix = name.startsWith("get") ? 3 : name.startsWith("is") ? 2 : name.length();
        String capitalized = attribute.substring(0, 1).toUpperCase(Locale.ROOT) + attribute.substring(1);
        return method.getParameterCount() == 0 && name.substring(prefix).equals(capitalized);
    }

    /** As @Generated, @GeneratedColumn, @CurrentTimestamp, or one of the application's own. */
    private static boolean isOfUpdates(Annotation annotation) {
        ValueGenerationType generation = annotation.annotationType().getAnnotation(ValueGenerationType.class);
        if (generation == null || !OnExecutionGenerator.class.isAssignableFrom(generation.generatedBy())) {
            return false;
        }
        return option(annotation, "source") != SourceType.VM
                && !Boolean.TRUE.equals(option(annotation, "writable"))
                && (!(option(annotation, "event") instanceof EventType[] events)
                        || List.of(events).contains(EventType.UPDATE));
    }

    /** The value of an annotation's option, or null if it has none of that name. */
    private static @Nullable Object option(Annotation annotation, String name) {
        try {
            Method option = annotation.annotationType().getDeclaredMethod(name);
            option.setAccessible(true);
            return option.invoke(annotation);
        } catch (ReflectiveOperationException none) {
            return null;
        }
    }
}
