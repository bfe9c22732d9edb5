package io.rowlock.examples.orders.fulfilment;

import java.time.Instant;

/** What the carrier says when the customer has the goods. */
public record Delivered(Instant at) {}
