/** What people did, as rows. */
@NullMarked
package io.rowlock.internal.operation;

import org.jspecify.annotations.NullMarked;
