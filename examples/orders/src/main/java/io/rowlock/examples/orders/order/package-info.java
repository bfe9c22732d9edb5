/** The shop's own subject: orders, the rules they must keep, and the jobs they make. */
@NullMarked
package io.rowlock.examples.orders.order;

import org.jspecify.annotations.NullMarked;
