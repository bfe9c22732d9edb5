/** Looks jobs up for people and tests. */
@NullMarked
package io.rowlock.internal.jobs;

import org.jspecify.annotations.NullMarked;
