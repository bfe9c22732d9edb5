package io.rowlock.jpa.internal;

import io.rowlock.error.RowlockException;
import io.rowlock.jpa.Change;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A payload method that {@link PayloadSignature} found right: calls it and opens what it returned. */
final class PayloadMethod implements PayloadSource {
    private final Method method;
    private final Class<?> payloadType;

    PayloadMethod(Method method, Class<?> payloadType) {
        this.method = method;
        this.payloadType = payloadType;
    }

    @Override
    public Class<?> payloadType() {
        return payloadType;
    }

    @Override
    public List<?> payloads(ChangedEntity changed, Change change) {
        List<?> payloads = opened(call(changed));
        for (Object payload : payloads) {
            if (!payloadType.isInstance(payload)) {
                throw new RowlockException(where(changed) + " returned "
                        + (payload == null
                                ? "null in a list"
                                : payload.getClass().getName()) + " where "
                        + payloadType.getName() + " is declared; the transaction must roll back");
            }
        }
        return payloads;
    }

    private static List<?> opened(@Nullable Object returned) {
        if (returned instanceof Optional<?> optional) {
            return optional.map(List::of).orElse(List.of());
        }
        if (returned instanceof List<?> list) {
            return list;
        }
        return returned == null ? List.of() : List.of(returned);
    }

    private @Nullable Object call(ChangedEntity changed) {
        try {
            return method.invoke(changed.entity());
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            if (cause instanceof Error error && !(cause instanceof StackOverflowError)) {
                throw error;
            }
            if (cause instanceof RowlockException inner) {
                throw inner; // of a flush that the method caused: it names what it is about
            }
            throw new RowlockException(
                    where(changed) + " threw " + cause + "; no job was written, the transaction must roll back", cause);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("The method was made accessible at start-up", e);
        }
    }

    private String where(ChangedEntity changed) {
        return "Payload method " + method.getDeclaringClass().getSimpleName() + "." + method.getName() + "() for "
                + changed.described();
    }
}
