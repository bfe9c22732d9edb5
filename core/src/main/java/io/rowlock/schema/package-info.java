/** Rowlock's tables: install them, check them, or print them for those who own the schema. */
@NullMarked
package io.rowlock.schema;

import org.jspecify.annotations.NullMarked;
