/** What Rowlock throws: one unchecked root and a few children with typed accessors. */
@NullMarked
package io.rowlock.error;

import org.jspecify.annotations.NullMarked;
