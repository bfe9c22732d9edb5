package io.rowlock.saga.internal.sql;

/**
 * A signal that has moved nothing yet.
 *
 * @param payload JSON
 */
public record SignalRow(long id, String name, String payload) {}
