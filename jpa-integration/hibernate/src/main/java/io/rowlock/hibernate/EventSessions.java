package io.rowlock.hibernate;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractEvent;
import org.jspecify.annotations.Nullable;

/**
 * The session of an event. {@code AbstractEvent.getSession()} returns an EventSource up to Hibernate 7.1 and a
 * SharedSessionContractImplementor since 7.2, so a call compiled on one does not link on the other; it is looked up by
 * name.
 */
final class EventSessions {
    private static final MethodHandle GET_SESSION = find();

    private EventSessions() {}

    private static MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .unreflect(AbstractEvent.class.getMethod("getSession"))
                    .asType(MethodType.methodType(SharedSessionContractImplementor.class, AbstractEvent.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Hibernate has no AbstractEvent.getSession()", e);
        }
    }

    /** The session, or null for a StatelessSession before Hibernate 7.2, which hides itself. */
    static @Nullable SharedSessionContractImplementor of(AbstractEvent event) {
        try {
            return (SharedSessionContractImplementor) GET_SESSION.invokeExact(event);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("getSession() declares no checked exception", e);
        }
    }
}
