package io.rowlock.saga;

import io.rowlock.event.RowlockEvent;
import org.jspecify.annotations.Nullable;

/**
 * What can happen to a saga; told to the listeners of its Rowlock after the commit of its record, by the process that
 * recorded it. As with all events, a crash in between leaves it untold: rows say what happened, events only that one looks.
 * A driver that became a dead letter, which makes its saga stuck, is told as {@link RowlockEvent.JobDied} of its job.
 */
public sealed interface SagaOutcome extends RowlockEvent.SagaEvent {
    /**
     * Which saga.
     *
     * @return its id
     */
    String id();

    /**
     * Of which definition.
     *
     * @return its name
     */
    String name();

    /**
     * All its steps are done.
     *
     * @param id the saga
     * @param name its definition
     * @param version the version of that
     */
    record SagaCompleted(String id, String name, int version) implements SagaOutcome {}

    /**
     * All that was done is undone.
     *
     * @param id the saga
     * @param name its definition
     * @param version the version of that
     * @param reason why
     */
    record SagaCompensated(
            String id, String name, int version, @Nullable String reason) implements SagaOutcome {}

    /**
     * It can go neither forward nor back: a person is needed.
     *
     * @param id the saga
     * @param name its definition
     * @param version the version of that
     * @param reason why
     */
    record SagaStuck(
            String id, String name, int version, @Nullable String reason) implements SagaOutcome {}

    /**
     * A compensation failed for good: a person is needed.
     *
     * @param id the saga
     * @param name its definition
     * @param version the version of that
     * @param reason why
     */
    record SagaCompensationFailed(
            String id, String name, int version, @Nullable String reason) implements SagaOutcome {}

    /**
     * A person ended it by hand.
     *
     * @param id the saga
     * @param name its definition
     * @param version the version of that
     * @param reason by whom and why
     */
    record SagaResolved(
            String id, String name, int version, @Nullable String reason) implements SagaOutcome {}
}
