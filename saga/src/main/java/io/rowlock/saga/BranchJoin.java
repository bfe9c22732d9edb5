package io.rowlock.saga;

/**
 * Makes one state of what parallel branches ended with; nothing but a join brings what they did into the saga's state.
 * Called in the driver, possibly again after a crash: no calls to the outside. Called by many threads at once.
 *
 * @param <S> the saga's state
 */
@FunctionalInterface
public interface BranchJoin<S> {
    /**
     * Joins.
     *
     * @param state the state with which the branches began
     * @param results the state with which each branch ended
     * @return the state to record, never null
     */
    S join(S state, BranchResults<S> results);
}
