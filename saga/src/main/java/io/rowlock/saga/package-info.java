/**
 * Sagas: how a chain of steps is written down as a {@link io.rowlock.saga.SagaDefinition}, checked by {@code build()},
 * and drawn. The words and rules of {@link io.rowlock.saga.Saga} hold for the whole package.
 */
@NullMarked
package io.rowlock.saga;

import org.jspecify.annotations.NullMarked;
