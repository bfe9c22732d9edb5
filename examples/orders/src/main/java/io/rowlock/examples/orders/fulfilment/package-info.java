/** What happens to an order once it is placed: one saga, and the clients of the services it calls. */
@NullMarked
package io.rowlock.examples.orders.fulfilment;

import org.jspecify.annotations.NullMarked;
