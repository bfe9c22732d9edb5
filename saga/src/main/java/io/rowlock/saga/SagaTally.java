package io.rowlock.saga;

/**
 * How many sagas an operation on many reached. Those that were not are left as they were; the operation may be repeated.
 *
 * @param done on so many it was done
 * @param refused so many had no need of it, or were past it
 * @param locked so many had their rows locked by others
 * @param failed so many the database refused; the log says why
 */
public record SagaTally(long done, long refused, long locked, long failed) {}
