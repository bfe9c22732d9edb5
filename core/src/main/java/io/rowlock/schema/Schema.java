package io.rowlock.schema;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;

/** Rowlock's tables in the configured schema. Safe for use by many threads and many processes at once. */
public interface Schema {
    /**
     * The version of the tables that this Rowlock needs.
     *
     * @return 1 or more
     */
    int version();

    /**
     * Brings the tables to this version: one transaction under an advisory lock, so that of many processes one does it
     * and the others wait, and a crash leaves all or nothing. Creates the schema if it is missing, also one whose
     * name was mistyped. Does nothing where the tables are current or newer. Needs the right to create.
     *
     * @throws DatabaseException if the server refused it, such as for a missing right
     */
    void install();

    /**
     * Checks that the tables are there and are what this Rowlock needs. Reads the catalogue only. Indexes beyond its
     * own, and tables one version newer, are accepted.
     *
     * @throws SchemaException naming each difference
     * @throws DatabaseException if the server refused it
     */
    void validate();

    /**
     * The DDL from an installed version to this one, and the grants a worker and an application need, for the
     * configured names. For those who run migrations by other tools. It expects the schema to be there, and begins with a
     * commented line that creates it.
     *
     * @param fromVersion the version installed now; 0 for none
     * @return SQL statements, empty if there is nothing to do
     * @throws InvalidUseException if the version is negative or newer than this one
     */
    String script(int fromVersion);
}
