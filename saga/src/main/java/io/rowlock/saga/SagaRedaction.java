package io.rowlock.saga;

/**
 * What became of the sagas of a subject.
 *
 * @param redacted so many finished ones have lost their states, results, errors and what signals carried
 * @param unfinished so many are not finished, or their parents are not, which have yet to read them: they were not touched;
 *     repeat it when they are
 * @param locked so many finished ones, and alerts about the subject, had their rows locked by others for 5 seconds: repeat it
 */
public record SagaRedaction(long redacted, long unfinished, long locked) {}
