package io.rowlock.saga;

import org.jspecify.annotations.Nullable;

/**
 * Where a node stands, which decides what it must and must not have.
 *
 * @param branch the branch around it, in words, or null on the main line
 * @param pivot the name of the saga's pivot, or null if it has none
 * @param afterPivot whether the pivot comes before this node
 */
record Place(@Nullable String branch, @Nullable String pivot, boolean afterPivot) {

    /** The same side of the pivot, inside a branch. */
    Place in(String inner) {
        return new Place(branch == null ? inner : inner + " in " + branch, pivot, afterPivot);
    }
}
