/**
 * Jobs: what they are called, how they are written in a caller's transaction, how they are done, and how to look them
 * up afterwards.
 */
@NullMarked
package io.rowlock.job;

import org.jspecify.annotations.NullMarked;
