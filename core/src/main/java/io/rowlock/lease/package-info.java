/** Who runs what: named leases with fencing tokens, leaders, partitions. */
@NullMarked
package io.rowlock.lease;

import org.jspecify.annotations.NullMarked;
