/** The partner who delivers: the shop's client, and for the demo the partner's own server. */
@NullMarked
package io.rowlock.examples.orders.partner;

import org.jspecify.annotations.NullMarked;
