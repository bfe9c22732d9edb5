package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.operation.Operation;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationPage;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Why queues or schedules are paused: what was said when they were. */
final class Pauses {
    private static final int MOST_PAGES = 10; // of an automaton that has done a hundred thousand things since

    private Pauses() {}

    /**
     * By their names. A pause and its operation were written by one transaction, the operation last.
     *
     * @param earliest when the first of them was paused, or null if none is
     * @param name of the operations of a sort
     */
    static Map<String, String> reasons(
            Rowlock rowlock, @Nullable Instant earliest, Function<Operation, @Nullable String> name) {
        Map<String, String> reasons = new HashMap<>();
        if (earliest == null) {
            return reasons;
        }
        OperationFilter filter = OperationFilter.all().what("pause").since(earliest);
        Long after = null;
        for (int i = 0; i == 0 || (i < MOST_PAGES && after != null); i++) {
            OperationPage page = rowlock.operations().find(filter, after, 1_000);
            page.operations().stream()
                    .filter(each -> name.apply(each) != null)
                    .forEach(each -> reasons.putIfAbsent(Objects.requireNonNull(name.apply(each)), each.why()));
            after = page.next().orElse(null);
        }
        return reasons;
    }
}
