package io.rowlock.benchmark.load;

import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Persistence;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** The persistence unit of the entities, on a schema that has Rowlock's tables. */
final class Unit {
    private static final int BATCH = 50;

    private Unit() {}

    static EntityManagerFactory on(TestSchema schema) {
        return on(schema.dataSource(), schema.name());
    }

    static EntityManagerFactory on(DataSource source, String schema) {
        return Persistence.createEntityManagerFactory(
                "benchmarks",
                Map.of(
                        "hibernate.loaded_classes", List.of(AnnotatedNote.class, PlainNote.class),
                        "jakarta.persistence.nonJtaDataSource", source,
                        "hibernate.hbm2ddl.auto", "update",
                        "hibernate.jdbc.batch_size", BATCH,
                        "rowlock.schema", schema));
    }
}
