package io.rowlock.jpa.internal;

/** What an attribute, or a path into an embedded object, is to {@code changed} and the other names in annotations. */
public enum AttributeRole {
    /** Basic, or a reference whose column the entity's own table has. */
    CHANGEABLE,
    /** The same, but perhaps not loaded when a job is made. */
    LAZY,
    /** Basic, but stored in a form without a text, as serialized, in JSON or a LOB. */
    WITHOUT_TEXT,
    /** An embedded object. */
    EMBEDDED,
    IDENTIFIER,
    VERSION,
    /** A collection that the entity owns. */
    COLLECTION,
    /** The {@code mappedBy} side of an association. */
    INVERSE
}
