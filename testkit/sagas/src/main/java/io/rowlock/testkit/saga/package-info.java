/**
 * For tests of applications that use sagas: a driver cranked by hand, which jumps over waits, and assertions on what
 * happened to a saga.
 */
@NullMarked
package io.rowlock.testkit.saga;

import org.jspecify.annotations.NullMarked;
