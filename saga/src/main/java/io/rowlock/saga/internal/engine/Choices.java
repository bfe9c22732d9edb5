package io.rowlock.saga.internal.engine;

import io.rowlock.saga.SagaNode.Choose;
import io.rowlock.saga.SagaNode.Option;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.internal.sql.StepRow;

/** Which way a choice went; asked once, then recorded. */
final class Choices {
    private Choices() {}

    static <S> String choose(Choose<S> choose, S state) {
        for (Option<S> option : choose.options()) {
            if (option.when().test(state)) {
                return option.path().name();
            }
        }
        return choose.otherwise().name();
    }

    static <S> Path<S> chosen(Choose<S> choose, StepRow row) {
        return choose.paths().stream()
                .filter(path -> path.name().equals(row.outcome().chosen()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Choice " + choose.name() + " has no option "
                        + row.outcome().chosen()));
    }
}
