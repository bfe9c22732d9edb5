/** Rowlock from a terminal. */
@NullMarked
package io.rowlock.cli;

import org.jspecify.annotations.NullMarked;
