package io.rowlock.saga;

import io.rowlock.job.JobKind;
import java.util.function.Function;

/**
 * A kind of job that starts a saga.
 *
 * @param <T> the type of the job's payload
 * @param <S> the saga's state
 * @param kind the kind
 * @param state makes the first state of the payload
 */
public record SagaStarter<T, S>(JobKind<T> kind, Function<T, S> state) {}
