package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How the branches of a parallel part ended. Each branch works on a state of its own, which begins as the saga's; what it
 * ended with is its result. Immutable and safe for use by many threads.
 *
 * @param <S> the saga's state
 */
public final class BranchResults<S> {
    private final Map<String, S> results;

    /**
     * Makes the results, as the engine or a test does.
     *
     * @param results the last state of each branch, by the branch's name
     */
    public BranchResults(Map<String, S> results) {
        this.results = Collections.unmodifiableMap(new LinkedHashMap<>(results));
    }

    /**
     * The state with which a branch ended.
     *
     * @param branch the branch's name
     * @return its last state
     * @throws InvalidUseException if there is no such branch
     */
    public S of(String branch) {
        S result = results.get(branch);
        if (result == null) {
            throw new InvalidUseException("There is no branch " + branch + " here; there are " + results.keySet());
        }
        return result;
    }

    /**
     * All results.
     *
     * @return an unmodifiable map by the branches' names, in the order of the definition
     */
    public Map<String, S> all() {
        return results;
    }
}
