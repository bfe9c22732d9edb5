package io.rowlock.jpa.internal;

import io.rowlock.error.RowlockException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Calls what makes payloads, and opens and checks what it returned. */
final class Payloads {
    private Payloads() {}

    /**
     * The payloads that a call returned.
     *
     * @param where names the call in messages
     * @throws RowlockException if it threw, or returned something else than declared
     */
    static List<?> checked(String where, Class<?> type, Callable<@Nullable Object> call) {
        List<?> payloads = opened(called(where, call));
        for (Object payload : payloads) {
            if (!type.isInstance(payload)) {
                throw new RowlockException(where + " returned "
                        + (payload == null
                                ? "null in a list"
                                : payload.getClass().getName()) + " where "
                        + type.getName() + " is declared; the transaction must roll back");
            }
        }
        return payloads;
    }

    private static @Nullable Object called(String where, Callable<@Nullable Object> call) {
        try {
            return call.call();
        } catch (RowlockException inner) {
            throw inner; // says what it is about; or of a flush that the call caused
        } catch (Exception | StackOverflowError thrown) {
            throw new RowlockException(
                    where + " threw " + thrown + "; no job was written, the transaction must roll back", thrown);
        }
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
}
