/** Jobs, workers, leases, dead letters and alerts on PostgreSQL, with JDBC alone. */
@SuppressWarnings("module") // modules beside core are built after it
module io.rowlock.core {
    requires transitive java.sql;
    requires static transitive org.jspecify;
    requires com.cronutils;
    requires com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.datatype.jdk8;
    requires com.fasterxml.jackson.datatype.jsr310;
    requires java.net.http;
    requires org.slf4j;
    requires static micrometer.core;
    requires static io.opentelemetry.api;
    requires static io.opentelemetry.context;

    exports io.rowlock;
    exports io.rowlock.alert;
    exports io.rowlock.checkup;
    exports io.rowlock.error;
    exports io.rowlock.event;
    exports io.rowlock.event.micrometer;
    exports io.rowlock.event.opentelemetry;
    exports io.rowlock.idempotency;
    exports io.rowlock.job;
    exports io.rowlock.lease;
    exports io.rowlock.operation;
    exports io.rowlock.schedule;
    exports io.rowlock.schema;
    exports io.rowlock.spi;
    exports io.rowlock.tx;
    exports io.rowlock.worker;
    exports io.rowlock.internal.engine to
            io.rowlock.saga;
    exports io.rowlock.internal.outbox to
            io.rowlock.saga;
    exports io.rowlock.internal.sql to
            io.rowlock.saga;

    uses io.rowlock.spi.PersistenceUnitBinding;
}
