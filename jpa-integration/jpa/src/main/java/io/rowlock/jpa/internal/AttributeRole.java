package io.rowlock.jpa.internal;

/** What an attribute is to {@code changed}. */
public enum AttributeRole {
    /** Basic, embedded, or a reference whose column the entity's own table has. */
    CHANGEABLE,
    IDENTIFIER,
    VERSION,
    /** A collection that the entity owns. */
    COLLECTION,
    /** The {@code mappedBy} side of an association. */
    INVERSE
}
