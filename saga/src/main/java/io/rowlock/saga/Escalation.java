package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.util.function.UnaryOperator;

/**
 * What becomes of a saga whose signal did not come in time. Immutable and safe for use by many threads.
 *
 * @param <S> the saga's state
 */
public sealed interface Escalation<S> {
    /**
     * Calls a person: an alert is written and the saga goes on waiting, visibly. The signal still moves it, however
     * late.
     *
     * @param <S> the saga's state
     * @return the escalation
     */
    static <S> Escalation<S> escalate() {
        return new Escalate<>();
    }

    /**
     * Ends the wait as failed for good: the completed steps are compensated in reverse. Not allowed after the pivot, from
     * which a saga only goes forward.
     *
     * @param <S> the saga's state
     * @return the escalation
     */
    static <S> Escalation<S> fail() {
        return new Fail<>();
    }

    /**
     * Goes on without the signal; one that comes later is recorded and moves nothing.
     *
     * @param state makes the state to record from the state of the saga; called in the driver: no calls to the outside
     * @param <S> the saga's state
     * @return the escalation
     * @throws InvalidUseException if null
     */
    static <S> Escalation<S> continueWith(UnaryOperator<S> state) {
        if (state == null) {
            throw new InvalidUseException("continueWith needs a function from state to state, got null");
        }
        return new ContinueWith<>(state);
    }

    /**
     * See {@link #escalate()}.
     *
     * @param <S> the saga's state
     */
    record Escalate<S>() implements Escalation<S> {}

    /**
     * See {@link #fail()}.
     *
     * @param <S> the saga's state
     */
    record Fail<S>() implements Escalation<S> {}

    /**
     * See {@link #continueWith(UnaryOperator)}.
     *
     * @param <S> the saga's state
     * @param state makes the state to record
     */
    record ContinueWith<S>(UnaryOperator<S> state) implements Escalation<S> {}
}
