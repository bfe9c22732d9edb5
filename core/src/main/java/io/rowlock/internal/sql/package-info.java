/** The statements, each named and tagged, and the rows they give. Only this package holds SQL. */
@NullMarked
package io.rowlock.internal.sql;

import org.jspecify.annotations.NullMarked;
