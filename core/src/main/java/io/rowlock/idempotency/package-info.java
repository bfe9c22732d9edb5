/** Requests that clients may repeat: done once, answered the same each time. */
@NullMarked
package io.rowlock.idempotency;

import org.jspecify.annotations.NullMarked;
