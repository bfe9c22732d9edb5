package io.rowlock.saga;

/** What became of a person's operation on a saga. But for {@link #DONE}, nothing was changed. */
public enum SagaAnswer {
    /** It was done. */
    DONE,
    /** It goes on by itself, or a driver is at work on it just now: nobody is needed. */
    HEALTHY,
    /** It waits for a person, not for time: retry, skip or resolve. */
    NEEDS_PERSON,
    /** It is finished. */
    FINISHED,
    /** It has no step of that name that waits for a person. */
    WRONG_STEP,
    /** There is no such saga (any more). */
    UNKNOWN
}
