package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * What a step or a compensation knows of the saga it belongs to. Valid until it returns. Safe for use by many threads.
 */
public interface StepContext {
    /**
     * The saga's id.
     *
     * @return the id it was started under
     */
    String sagaId();

    /**
     * The saga's name.
     *
     * @return the name of its definition
     */
    String saga();

    /**
     * The version the saga began with.
     *
     * @return 1 to 1,000,000
     */
    int version();

    /**
     * The business key the saga was started under.
     *
     * @return the key, empty if its definition has none
     */
    Optional<String> businessKey();

    /**
     * The step that runs, or whose compensation runs.
     *
     * @return the step's name
     */
    String step();

    /**
     * Which attempt of this step, or of this compensation, this is: each counts its own.
     *
     * @return 1 for the first
     */
    int attempt();

    /**
     * The idempotency key of what runs now: the same in all attempts, different for a step and its compensation, and
     * different from every other of every Rowlock database. It is made of the saga's id and the step's name: a saga that is
     * started under an id again, after the first one of that id was deleted past its retention, gets the same keys, and a
     * receiver that remembers them takes its calls for repeats. So never use an id for anything else.
     *
     * @return at most 100 characters of letters, digits and hyphens
     */
    String key();

    /**
     * The idempotency key under which a step of this saga does its work, whatever runs now: what a compensation gives
     * to an outside service to undo "the charge made under this key", even if its answer was never seen.
     *
     * @param step the name of a step of this saga, whether it has run or not
     * @return what {@link #key()} returns in that step
     * @throws InvalidUseException if the saga has no step of that name
     */
    String key(String step);

    /**
     * When the whole saga is to have ended, by the database's clock.
     *
     * @return the instant, empty if its definition has no deadline
     */
    Optional<Instant> deadline();

    /**
     * The headers the saga was started with, such as tenant, actor, trace.
     *
     * @return an unmodifiable map, empty if there are none
     */
    Map<String, String> headers();

    /**
     * Whether to stop: the driver's lease is lost, the attempt timed out, or the worker stops and its grace period is
     * over. What is still done counts for nothing.
     *
     * @return true once any of that happened
     */
    boolean cancelled();
}
