package io.rowlock.saga.internal.engine;

import io.rowlock.saga.SagaNode;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is next in a saga. */
sealed interface Found<S> {
    /** A node that begins or goes on now. */
    record Ready<S>(SagaNode<S> node, Scope scope) implements Found<S> {}

    /**
     * Nothing, yet.
     *
     * @param until when something is due; null: nothing is
     * @param signals which signals change that
     */
    record Waits<S>(@Nullable Instant until, Set<String> signals) implements Found<S> {}

    /** Nothing any more. */
    record Done<S>() implements Found<S> {}
}
