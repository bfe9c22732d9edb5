/** The shop's door: HTTP and JSON. */
@NullMarked
package io.rowlock.examples.orders.http;

import org.jspecify.annotations.NullMarked;
