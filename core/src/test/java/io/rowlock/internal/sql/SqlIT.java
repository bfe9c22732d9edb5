package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@PostgresTest
final class SqlIT {
    @Test
    @Tag("B44")
    void an_array_of_json_keeps_every_text_as_it_was_written(TestPostgres server) throws Exception {
        List<String> texts = Arrays.asList(
                "{\"a\": 1.10,  \"a\": 2}", "\"\\\\u0000 \\\"quoted\\\" {,} \\\\ \u00e4\"", "null", null, "[]", "\"\"");

        try (TestSchema schema = TestSchema.create(server, "sql");
                Connection connection = schema.connect()) {
            assertThat(new Sql(
                                    new Names(schema.name(), "rowlock_"),
                                    "SELECT j::text FROM unnest($1) WITH ORDINALITY AS x (j, n)"
                                            + " WHERE pg_typeof($1) = 'json[]'::regtype ORDER BY n")
                            .query(connection, row -> row.getString(1), Sql.jsons(texts)))
                    .isEqualTo(texts);
        }
    }
}
