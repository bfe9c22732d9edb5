/** A small shop that shows Rowlock with Hibernate: {@link io.rowlock.examples.orders.Shop} puts it together. */
@NullMarked
package io.rowlock.examples.orders;

import org.jspecify.annotations.NullMarked;
