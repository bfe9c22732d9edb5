/** The outbox: what is checked before a job is written, and the kinds and codec it uses. */
@NullMarked
package io.rowlock.internal.outbox;

import org.jspecify.annotations.NullMarked;
