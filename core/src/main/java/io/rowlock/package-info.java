/** Where the parts are put together: {@link io.rowlock.Rowlock} and its builder. */
@NullMarked
package io.rowlock;

import org.jspecify.annotations.NullMarked;
