package io.rowlock.fault;

import io.rowlock.job.Kind;

/** What a schedule makes. */
@Kind("ticked")
record Ticked() {}
