package io.rowlock.jpa;

import java.util.List;

/**
 * Makes the payloads of jobs where that needs more than the entity: named by {@link OutboxJob#payload()} on a type. One
 * instance for each persistence unit, made when the first job needs it: by the provider's bean registry, so that CDI or
 * Spring inject services, else by a constructor without parameters. Called by many threads at once.
 *
 * <p>As a payload method, it must not change entities, and what it throws rolls the transaction back.
 *
 * @param <E> the entity's type, or a superclass or interface of it
 * @param <P> the payloads' type, which gives the kind where the annotation does not
 */
@FunctionalInterface
public interface PayloadFactory<E, P> {
    /**
     * Makes the payloads of one change.
     *
     * @param change what happened
     * @return a payload for each job; empty for none
     */
    List<P> payloads(EntityChange<E> change);

    /** Stands for no factory in annotations. */
    interface None extends PayloadFactory<Object, Object> {}
}
