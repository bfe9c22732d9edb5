package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the rules of one entity from its class and superclasses, and notes every mistake. */
final class RuleReader {
    private final EntityType type;
    private final Set<Class<?>> entities;
    private final UnitKinds kinds;
    private final Problems problems;
    private final AttributeNames names;
    private final BeanSource beans;
    private final List<EntityRule> rules = new ArrayList<>();
    private final Set<Class<?>> unread = new HashSet<>();

    RuleReader(EntityType type, Set<Class<?>> entities, UnitKinds kinds, Problems problems, BeanSource beans) {
        this.type = type;
        this.entities = entities;
        this.kinds = kinds;
        this.problems = problems;
        this.names = new AttributeNames(type, problems);
        this.beans = beans;
    }

    /** The rules, those of superclasses first; those of a type before those of its methods, which come by name. */
    List<EntityRule> read() {
        for (Class<?> declaring : fromTheTop()) {
            readType(declaring);
            readMethods(declaring);
            refuseUnread(declaring.getInterfaces(), "the interface");
        }
        refuseUnread(type.embeddables().toArray(Class<?>[]::new), "the embeddable");
        return rules;
    }

    /** Annotations that nobody reads would be jobs that nobody writes. */
    private void refuseUnread(Class<?>[] classes, String what) {
        for (Class<?> each : classes) {
            boolean annotated = each.getDeclaredAnnotationsByType(OutboxJob.class).length > 0
                    || Arrays.stream(each.getDeclaredMethods()).anyMatch(RuleReader::isAnnotated);
            if (annotated && unread.add(each)) {
                problems.add(
                        where(type.javaClass(), null),
                        "has annotations on " + what + " " + each.getSimpleName()
                                + "; only entities and their superclasses are read: put them there");
            }
            refuseUnread(each.getInterfaces(), "the interface");
        }
    }

    private Deque<Class<?>> fromTheTop() {
        Deque<Class<?>> classes = new ArrayDeque<>();
        for (Class<?> each = type.javaClass(); each != null && each != Object.class; each = each.getSuperclass()) {
            classes.addFirst(each);
        }
        return classes;
    }

    private void readType(Class<?> declaring) {
        OutboxJob[] jobs = declaring.getDeclaredAnnotationsByType(OutboxJob.class);
        AnnotationPlaces places = new AnnotationPlaces(where(declaring, null), jobs);
        Overlaps overlaps = new Overlaps(problems);
        for (int i = 0; i < jobs.length; i++) {
            OutboxJob job = jobs[i];
            String where = places.of(i);
            boolean made = job.payload() != PayloadFactory.None.class;
            if (job.kind().isBlank() && !made) {
                problems.add(where, "an annotation on a type needs a kind, such as kind = \"order-changed\"");
            } else if (!replacedBelow(declaring, job)) {
                add(where, job, made ? factory(where, job) : PayloadSource.DEFAULT, overlaps);
            }
        }
    }

    private @Nullable PayloadSource factory(String where, OutboxJob job) {
        return new FactorySignature(job.payload(), type.javaClass(), where, entities, problems).source(beans);
    }

    /**
     * Whether a class between this one and the entity has an annotation of the same kind and factory, which takes its
     * place.
     */
    private boolean replacedBelow(Class<?> declaring, OutboxJob above) {
        for (Class<?> each = type.javaClass(); each != declaring; each = each.getSuperclass()) {
            for (OutboxJob job : each.getDeclaredAnnotationsByType(OutboxJob.class)) {
                if (job.kind().equals(above.kind()) && (!job.kind().isEmpty() || job.payload() == above.payload())) {
                    return true;
                }
            }
        }
        return false;
    }

    private void readMethods(Class<?> declaring) {
        Arrays.stream(declaring.getDeclaredMethods())
                .filter(method -> !method.isSynthetic() && isAnnotated(method))
                .filter(method -> !replacedBelow(declaring, method))
                .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toString))
                .forEach(this::readMethod);
    }

    /** Whether a class between this one and the entity overrides the method with annotations of its own. */
    private boolean replacedBelow(Class<?> declaring, Method method) {
        if (Modifier.isPrivate(method.getModifiers())) {
            return false;
        }
        for (Class<?> each = type.javaClass(); each != declaring; each = each.getSuperclass()) {
            for (Method lower : each.getDeclaredMethods()) {
                if (isAnnotated(lower)
                        && !lower.isSynthetic()
                        && lower.getName().equals(method.getName())
                        && Arrays.equals(lower.getParameterTypes(), method.getParameterTypes())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isAnnotated(Method method) {
        return method.getDeclaredAnnotationsByType(OutboxJob.class).length > 0;
    }

    private void readMethod(Method method) {
        String where = where(method.getDeclaringClass(), method);
        OutboxJob[] jobs = method.getDeclaredAnnotationsByType(OutboxJob.class);
        PayloadSource source = new PayloadSignature(method, type.javaClass(), where, entities, problems).source();
        AnnotationPlaces places = new AnnotationPlaces(where, jobs);
        Overlaps overlaps = new Overlaps(problems);
        for (int i = 0; i < jobs.length; i++) {
            if (jobs[i].payload() != PayloadFactory.None.class) {
                problems.add(
                        places.of(i), "names a payload factory, but the method makes the payload; move it to the type");
            }
            add(places.of(i), jobs[i], source, overlaps);
        }
    }

    private void add(String where, OutboxJob job, @Nullable PayloadSource source, Overlaps overlaps) {
        Set<Change> on = withoutDuplicates(job.on());
        if (on.isEmpty()) {
            problems.add(where, "names no change; write on = PERSIST, UPDATE or REMOVE");
        }
        Concern concern = concern(where, job, on);
        JobPlace place = place(where, job);
        JobKind<?> kind = source == null ? null : kind(where, job, source.payloadType());
        overlaps.add(where, job, kind == null ? job.kind() : kind.name(), on);
        if (source != null && kind != null) {
            kinds.register(kind, where);
            rules.add(new EntityRule(on, concern, kind, source, place));
        }
    }

    private Concern concern(String where, OutboxJob job, Set<Change> on) {
        SortedSet<String> changed = new TreeSet<>(Arrays.asList(job.changed()));
        SortedSet<String> ignoring = new TreeSet<>(Arrays.asList(job.ignoring()));
        Concern concern = new Concern(changed, ignoring);
        if (!concern.changed().isEmpty() && !concern.ignoring().isEmpty()) {
            problems.add(
                    where,
                    "has both changed and ignoring; what is not in changed is ignored already: leave ignoring out");
        } else if (!concern.isAny() && !on.contains(Change.UPDATE)) {
            problems.add(
                    where,
                    "has " + (concern.changed().isEmpty() ? "ignoring" : "changed")
                            + " but is not about UPDATE; add UPDATE or leave it out");
        }
        names.checkChanged(where, changed);
        names.checkIgnored(where, ignoring);
        return concern;
    }

    private JobPlace place(String where, OutboxJob job) {
        names.checkNaming(where, "subject", job.subject());
        names.checkNaming(where, "orderedBy", job.orderedBy());
        JobPlace place = new JobPlace(given(job.queue()), given(job.subject()), given(job.orderedBy()));
        if (place.queue() != null) {
            try {
                new JobOptions().queue(place.queue());
            } catch (InvalidUseException e) {
                problems.add(where, e.getMessage() + "; leave it out for the queue default");
            }
        }
        return place;
    }

    private static @Nullable String given(String option) {
        return option.isEmpty() ? null : option;
    }

    private @Nullable JobKind<?> kind(String where, OutboxJob job, Class<?> payloadType) {
        if (job.kind().isEmpty() && !payloadType.isAnnotationPresent(Kind.class)) {
            problems.add(
                    where,
                    "payload type " + payloadType.getName()
                            + " has no kind; annotate it with @Kind(\"a-stable-name\"), or name the kind here");
            return null;
        }
        try {
            Kind own = payloadType.getAnnotation(Kind.class);
            return job.kind().isEmpty()
                    ? JobKind.of(payloadType)
                    : JobKind.named(job.kind(), payloadType).version(own == null ? 1 : own.version());
        } catch (InvalidUseException e) {
            problems.add(where, e.getMessage() + "; give it a stable name, such as \"order-changed\"");
            return null;
        }
    }

    private static Set<Change> withoutDuplicates(Change[] changes) {
        Set<Change> set = EnumSet.noneOf(Change.class);
        set.addAll(Arrays.asList(changes));
        return set;
    }

    private String where(Class<?> declaring, @Nullable Method method) {
        String place = declaring.getSimpleName() + (method == null ? "" : "." + signature(method));
        if (declaring != type.javaClass()) {
            return place + " as inherited by " + type.name();
        }
        return type.name().equals(declaring.getSimpleName()) ? place : place + " of entity " + type.name();
    }

    private static String signature(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
