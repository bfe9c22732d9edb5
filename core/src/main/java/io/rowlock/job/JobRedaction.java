package io.rowlock.job;

/**
 * What {@link Jobs#redact} has done.
 *
 * @param redacted so many finished jobs have lost payload, headers and errors; those that had lost them before do not count
 * @param unfinished so many were left, as they are still to be done: redact again when they are finished
 * @param refused so many jobs, and alerts whose jobs are gone, the access policy refused
 * @param locked so many jobs and alerts were left, because others had their rows locked for longer than was waited
 * @param alerts so many alerts have lost what they said
 */
public record JobRedaction(long redacted, long unfinished, long refused, long locked, long alerts) {}
