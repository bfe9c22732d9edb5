/** Installs, checks and prints Rowlock's tables. */
@NullMarked
package io.rowlock.internal.schema;

import org.jspecify.annotations.NullMarked;
