/** What {@code ./demo} runs: the world around the shop, a file of orders sent through it, and the proof at the end. */
@NullMarked
package io.rowlock.examples.orders.demo;

import org.jspecify.annotations.NullMarked;
