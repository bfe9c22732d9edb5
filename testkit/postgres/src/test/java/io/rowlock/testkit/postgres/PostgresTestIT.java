package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

@PostgresTest
final class PostgresTestIT {

    private final TestSchema fromConstructor;

    PostgresTestIT(TestSchema schema) {
        this.fromConstructor = schema;
    }

    @BeforeAll
    static void table(TestSchema schema) throws Exception {
        schema.execute("CREATE TABLE note (id bigint PRIMARY KEY, text text)");
    }

    @Test
    void constructor_lifecycle_method_and_test_get_the_same_schema(TestSchema schema) throws Exception {
        assertThat(schema).isSameAs(fromConstructor);
        assertThat(schema.name()).startsWith("t_postgrestestit_").matches("[a-z0-9_]{1,40}");
        assertThat(schema.count("SELECT count(*) FROM note WHERE id < 0")).isZero();
    }

    @Test
    void data_source_and_server_are_those_of_the_schema(DataSource source, TestPostgres server, TestSchema schema)
            throws Exception {
        assertThat(server).isSameAs(TestPostgres.shared());
        try (Connection connection = source.getConnection()) {
            assertThat(connection.getSchema()).isEqualTo(schema.name());
        }
    }

    @Nested
    final class Inside {

        @Test
        void nested_class_shares_the_schema_of_its_outer_class(TestSchema schema) {
            assertThat(schema).isSameAs(fromConstructor);
        }
    }
}
