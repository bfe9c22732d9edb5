package io.rowlock.jpa;

/** What happened to an entity's row in one flush. */
public enum Change {
    /** The row was inserted. */
    PERSIST,
    /** The row was updated, and neither inserted nor deleted in the same flush. */
    UPDATE,
    /** The row was deleted, and not inserted in the same flush. */
    REMOVE
}
