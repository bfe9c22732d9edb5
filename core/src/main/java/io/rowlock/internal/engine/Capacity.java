package io.rowlock.internal.engine;

/** What bounds the claims of a worker: its own slots, the limits of limit keys, and those of queues. */
record Capacity(Slots slots, Limits limits, QueueGate gate) {}
