package io.rowlock.saga.internal.engine;

import io.rowlock.saga.internal.sql.StepRow.StepKey;
import org.jspecify.annotations.Nullable;

/**
 * Whose state a node works on: the saga's, or that of a branch of a parallel part, from its beginning to the join.
 *
 * @param branch null for the saga's own
 */
record Scope(@Nullable StepKey branch) {
    static final Scope MAIN = new Scope(null);
}
