/** What Rowlock carries. */
@NullMarked
package io.rowlock.benchmark.load;

import org.jspecify.annotations.NullMarked;
