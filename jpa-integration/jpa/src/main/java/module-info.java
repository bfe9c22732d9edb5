/** Annotations that turn changes of entities into jobs, and transactions of an EntityManager for handlers. */
@SuppressWarnings("module") // the adapter is built later than this module
module io.rowlock.jpa {
    requires transitive io.rowlock.core;
    requires transitive jakarta.persistence;
    requires static transitive org.jspecify;

    exports io.rowlock.jpa;
    exports io.rowlock.jpa.spi;
    exports io.rowlock.jpa.internal to
            io.rowlock.hibernate;

    uses io.rowlock.jpa.spi.ConnectionAccess;
}
