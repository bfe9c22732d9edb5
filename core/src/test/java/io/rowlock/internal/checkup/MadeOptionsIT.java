package io.rowlock.internal.checkup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import org.junit.jupiter.api.Test;

@PostgresTest
final class MadeOptionsIT {
    @Test
    void a_checkup_knows_every_option_that_the_tables_are_made_with(TestSchema schema) throws Exception {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();

        assertThat(schema.list(
                        String.class,
                        "SELECT substr(relname, 9) || ' ' || unnest(reloptions) FROM pg_class"
                                + " WHERE relnamespace = ?::regnamespace AND relkind = 'r'",
                        schema.name()))
                .containsExactlyInAnyOrderElementsOf(TableCheck.MADE.stream()
                        .map(made -> made.table() + ' ' + made.option() + '=' + made.value())
                        .toList());
    }
}
