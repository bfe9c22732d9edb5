package io.rowlock.saga;

/** The answer to a request to cancel a saga. */
public enum SagaCancellation {
    /** Nothing new begins; the attempt that runs is waited for, and what was done is undone. */
    ACCEPTED,
    /** Its pivot has started: it only goes forward. Nothing was changed. */
    ONLY_FORWARD,
    /** It is being undone already. Nothing was changed. */
    ALREADY_COMPENSATING,
    /** It is finished. Nothing was changed. */
    ALREADY_FINISHED,
    /** There is no such saga (any more). */
    UNKNOWN
}
