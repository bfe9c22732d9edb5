/** What peers carry, each at its best documented setting. */
@NullMarked
package io.rowlock.benchmark.peer;

import org.jspecify.annotations.NullMarked;
