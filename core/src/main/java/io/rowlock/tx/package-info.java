/** Transactions that are done again where that is safe. */
@NullMarked
package io.rowlock.tx;

import org.jspecify.annotations.NullMarked;
