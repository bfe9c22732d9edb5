/**
 * What applications and frameworks may put in place of, or around, Rowlock's own parts.
 */
@NullMarked
package io.rowlock.spi;

import org.jspecify.annotations.NullMarked;
