package io.rowlock.lease;

/**
 * A part of partitions as its row was read.
 *
 * @param number which part
 * @param lease its lease; nobody holds it: nobody works on the part, since {@link LeaseView#expiresAt}
 */
public record PartView(int number, LeaseView lease) {}
