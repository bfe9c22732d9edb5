package io.rowlock.lease;

/**
 * Partitions as their rows were read.
 *
 * @param name their name
 * @param parts into how many parts they are divided, as the member says that joined first of those that live
 * @param members how many members live, counted up to 2,000; 0: all have died, and nobody has joined since
 * @param held how many of the parts somebody holds; what is left nobody works on
 */
public record PartitionsView(String name, int parts, int members, int held) {}
