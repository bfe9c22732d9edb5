package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

@PostgresTest
class SchemaScriptIT {
    @Test
    void the_script_does_what_install_does(TestSchema schema) throws SQLException {
        // tag::script
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .tablePrefix("app_")
                .build();
        String ddl = rowlock.schema().script(0); // for Flyway, Liquibase or a DBA
        // end::script
        schema.execute(ddl);
        // tag::validate
        rowlock.schema().validate(); // throws SchemaException naming every difference
        // end::validate
        assertThat(schema.count("SELECT count(*) FROM app_job")).isZero();
    }
}
