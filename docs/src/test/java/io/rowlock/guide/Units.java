package io.rowlock.guide;

import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.jpa.HibernatePersistenceConfiguration;

/** Persistence units for the snippets. */
final class Units {
    private Units() {}

    /** A unit of these entities in the test's schema. */
    static EntityManagerFactory start(TestSchema schema, Class<?>... entities) {
        HibernatePersistenceConfiguration unit = new HibernatePersistenceConfiguration("guide");
        unit.managedClasses(entities);
        unit.property("hibernate.connection.datasource", schema.dataSource());
        unit.property("hibernate.hbm2ddl.auto", "update");
        unit.property("rowlock.schema", schema.name());
        return unit.createEntityManagerFactory();
    }
}
