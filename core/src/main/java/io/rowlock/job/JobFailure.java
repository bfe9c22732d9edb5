package io.rowlock.job;

import java.time.Instant;

/**
 * One failed attempt of a job.
 *
 * @param jobId the job
 * @param attempt which attempt failed, 1 for the first
 * @param at when it was recorded, by the database's clock
 * @param worker the worker's incarnation that ran it
 * @param errorClass the class of the throwable, or {@code worker lost}, {@code timed out}
 * @param message its message, cut at 2,000 characters
 * @param stack its stack trace, cut at 8,000 characters
 */
public record JobFailure(
        long jobId, int attempt, Instant at, String worker, String errorClass, String message, String stack) {}
