/** Named leases as rows, and who works under them. */
@NullMarked
package io.rowlock.internal.lease;

import org.jspecify.annotations.NullMarked;
