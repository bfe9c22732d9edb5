/** The world outside the shop, for the demo: a warehouse, a bank and a carrier that fail now and then, and keep books. */
@NullMarked
package io.rowlock.examples.orders.outside;

import org.jspecify.annotations.NullMarked;
