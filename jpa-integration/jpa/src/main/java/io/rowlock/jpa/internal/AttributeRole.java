package io.rowlock.jpa.internal;

/** What an attribute, or a path into an embedded object, is to {@code changed} and the other names in annotations. */
public enum AttributeRole {
    /** Basic, or a reference whose column the entity's own table has. */
    CHANGEABLE,
    /** As {@link #CHANGEABLE}, but perhaps not loaded when the row changes. */
    LAZY,
    /** As {@link #CHANGEABLE}, but stored in a form without a text: serialized, in JSON or a LOB. */
    WITHOUT_TEXT,
    /** Its column keeps what was inserted. */
    FIXED,
    /** Its column is written by another attribute, or by nobody that the provider knows. */
    READ_ONLY,
    /** The database makes its value anew at each update; it is read back then. */
    GENERATED,
    /** An expression over other columns, evaluated where the row is read. */
    COMPUTED,
    /** An embedded object. */
    EMBEDDED,
    /** The id, or a part of it. */
    IDENTIFIER,
    VERSION,
    /** A collection that the entity owns. */
    COLLECTION,
    /** The {@code mappedBy} side of an association. */
    INVERSE
}
