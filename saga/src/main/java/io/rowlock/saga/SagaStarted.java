package io.rowlock.saga;

/**
 * The answer to a start.
 *
 * @param id the saga: the new one, or that which was there
 * @param duplicate whether there was one of the same id, or an unfinished one of the same name under the same business key:
 *     then nothing was written
 */
public record SagaStarted(String id, boolean duplicate) {}
