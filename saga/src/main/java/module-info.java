/** Sagas: chains of idempotent steps as rows, undone in reverse when a step fails for good. */
module io.rowlock.saga {
    requires transitive io.rowlock.core;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.rowlock.saga;
    exports io.rowlock.saga.engine;
}
