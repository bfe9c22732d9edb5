package io.rowlock.operation;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A page of what people did.
 *
 * @param operations the newest first; may be empty where more are to be looked at
 * @param end where to go on, or null if all has been looked at
 */
public record OperationPage(
        List<Operation> operations, @Nullable Long end) {
    public OperationPage {
        operations = List.copyOf(operations);
    }

    /**
     * Where to go on.
     *
     * @return what the next call gets as {@code after}; empty if all has been looked at
     */
    public Optional<Long> next() {
        return Optional.ofNullable(end);
    }
}
