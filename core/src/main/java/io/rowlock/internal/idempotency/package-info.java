/** Requests under the keys of their clients, as rows. */
@NullMarked
package io.rowlock.internal.idempotency;

import org.jspecify.annotations.NullMarked;
