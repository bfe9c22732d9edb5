/** Rowlock's meters for Micrometer. Needs {@code io.micrometer:micrometer-core}, which applications bring themselves. */
@NullMarked
package io.rowlock.event.micrometer;

import org.jspecify.annotations.NullMarked;
