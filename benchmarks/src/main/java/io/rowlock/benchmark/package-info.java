/** Benchmarks, run by hand. */
@NullMarked
package io.rowlock.benchmark;

import org.jspecify.annotations.NullMarked;
