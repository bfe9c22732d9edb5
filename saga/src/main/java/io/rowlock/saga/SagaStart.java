package io.rowlock.saga;

import io.rowlock.job.JobKind;
import java.time.Duration;
import java.util.function.Function;

/**
 * The part of a definition before its first step: how the saga is started and what holds for the whole of it. For one
 * thread.
 *
 * @param <S> the saga's state
 */
public final class SagaStart<S> extends SagaSteps<S> {
    private final SagaDraft<S> draft;

    SagaStart(SagaDraft<S> draft) {
        super(draft.main());
        this.draft = draft;
    }

    /**
     * Starts the saga by jobs of a kind. A job starts one saga, however often it is done. May be given for several
     * kinds; without any, the saga is started by hand.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param state makes the first state of the payload; no calls to the outside
     * @param <T> the type of the payload
     * @return this
     */
    public <T> SagaStart<S> startedBy(Class<T> payloadType, Function<T, S> state) {
        draft.startedBy(payloadType, state);
        return this;
    }

    /**
     * Starts the saga by jobs of a kind given by hand.
     *
     * @param kind the kind
     * @param state makes the first state of the payload; no calls to the outside
     * @param <T> the type of the payload
     * @return this
     * @see #startedBy(Class, Function)
     */
    public <T> SagaStart<S> startedBy(JobKind<T> kind, Function<T, S> state) {
        draft.startedBy(kind, state);
        return this;
    }

    /**
     * Gives each saga a name of the business, by which signals and people find it, and which at most one running saga of
     * this name holds: a second start under it is answered with the first.
     *
     * @param key makes the key of the first state: 1 to 200 characters, such as {@code Order:42}; no key by default
     * @return this
     */
    public SagaStart<S> businessKey(Function<S, String> key) {
        draft.businessKey(key);
        return this;
    }

    /**
     * Limits how long the whole saga may take, by the database's clock. Then, before the pivot, it is cancelled and
     * compensated; from the pivot on it goes forward all the same, and an alert says it is late.
     *
     * @param longest 1 ms to 100 years; no limit by default
     * @return this
     */
    public SagaStart<S> deadline(Duration longest) {
        draft.deadline(longest);
        return this;
    }

    /**
     * Says how a state that an older version wrote becomes one of this version, for a saga that a person forks onto it.
     * Running sagas stay on their version and need none.
     *
     * @param fromVersion 1 to the version before this, each once
     * @param oldType the class the older state is read back as
     * @param state makes the new state of the old; no calls to the outside
     * @param <O> that class
     * @return this
     */
    public <O> SagaStart<S> upcast(int fromVersion, Class<O> oldType, Function<O, S> state) {
        draft.upcast(fromVersion, oldType, state);
        return this;
    }
}
