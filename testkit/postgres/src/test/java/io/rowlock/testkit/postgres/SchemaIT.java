package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.DayOfWeek;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

@PostgresTest
final class SchemaIT {

    private final TestSchema schema;

    SchemaIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void two_schemas_do_not_see_each_other() throws Exception {
        try (TestSchema other = TestSchema.create(schema.server(), "other")) {
            schema.execute("CREATE TABLE mine (id bigint)");
            other.execute("CREATE TABLE theirs (id bigint)");
            assertThatThrownBy(() -> schema.execute("SELECT id FROM theirs"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("does not exist");
            assertThatThrownBy(() -> other.execute("SELECT id FROM mine")).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void dropped_schema_is_gone_with_its_tables_even_if_a_connection_holds_a_lock() throws Exception {
        TestSchema left = TestSchema.create(schema.server(), "left open");
        left.execute("CREATE TABLE note (id bigint)");
        try (Connection open = left.begin()) {
            Statements.update(open, "INSERT INTO note VALUES (1)");
            left.drop();
            assertThat(schema.count("SELECT count(*) FROM pg_namespace WHERE nspname = ?", left.name()))
                    .isZero();
            assertThatThrownBy(open::commit).isInstanceOf(SQLException.class);
        }
        left.drop();
    }

    @Test
    void connections_carry_the_name_of_the_schema() throws Exception {
        assertThat(schema.one(String.class, "SHOW application_name")).contains(schema.name());
        assertThat(schema.one(String.class, "SELECT current_schema()")).contains(schema.name());
        try (Connection connection = schema.begin()) {
            assertThat(connection.getAutoCommit()).isFalse();
        }
        try (Connection connection = schema.connect()) {
            assertThat(connection.getAutoCommit()).isTrue();
        }
    }

    @Test
    void statements_bind_and_read_the_usual_types() throws Exception {
        schema.execute("CREATE TABLE thing (id uuid, day text, at timestamptz, done boolean)");
        UUID id = UUID.randomUUID();
        Instant at = Instant.parse("2026-01-02T03:04:05.123456Z");
        assertThat(schema.update("INSERT INTO thing VALUES (?, ?, ?, ?)", id, DayOfWeek.FRIDAY, at, null))
                .isOne();
        assertThat(schema.one(UUID.class, "SELECT id FROM thing")).contains(id);
        assertThat(schema.one(Instant.class, "SELECT at FROM thing WHERE day = ?", DayOfWeek.FRIDAY))
                .contains(at);
        assertThat(schema.one(Boolean.class, "SELECT done FROM thing")).isEmpty();
        assertThat(schema.one(UUID.class, "SELECT id FROM thing WHERE false")).isEmpty();
        assertThat(schema.list(Integer.class, "SELECT n FROM (VALUES (1), (NULL), (3)) AS v (n)"))
                .isEqualTo(Arrays.asList(1, null, 3));
        assertThat(schema.rows("SELECT day AS \"Day\", 1 AS one FROM thing"))
                .isEqualTo(List.of(Map.of("Day", "FRIDAY", "one", 1)));
    }

    @Test
    void script_may_hold_several_statements_and_question_marks() throws Exception {
        schema.execute("""
                CREATE TABLE script (j jsonb);
                INSERT INTO script VALUES ('{"a?": 1}');
                DELETE FROM script WHERE NOT j ? 'a?'""");
        assertThat(schema.count("SELECT count(*) FROM script")).isOne();
    }

    @Test
    void one_refuses_two_rows_and_count_refuses_none() {
        assertThatThrownBy(() -> schema.one(Integer.class, "SELECT 1 UNION ALL SELECT 2"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("2 came back");
        assertThatThrownBy(() -> schema.count("SELECT 1 WHERE false")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void only_names_of_test_schemas_are_taken_for_existing_ones() {
        assertThat(TestSchema.existing(schema.server(), schema.name()).url()).isEqualTo(schema.url());
        assertThatThrownBy(() -> TestSchema.existing(schema.server(), "public; DROP TABLE t"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void name_is_an_identifier_that_needs_no_quotes_and_is_never_the_same() {
        String longest = SchemaName.of("AVeryLongNameOfATestClassÄÖ$InsideAnother-One");
        assertThat(longest).matches("t_[a-z0-9_]+").hasSizeLessThanOrEqualTo(40);
        assertThat(SchemaName.of("x")).matches("t_x_[0-9a-f]{8}").isNotEqualTo(SchemaName.of("x"));
    }
}
