/** How figures are measured and written down. */
@NullMarked
package io.rowlock.benchmark.run;

import org.jspecify.annotations.NullMarked;
