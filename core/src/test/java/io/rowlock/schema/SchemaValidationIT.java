package io.rowlock.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@PostgresTest
@Tag("B54")
final class SchemaValidationIT {
    private TestSchema schema;
    private Rowlock rowlock;

    @BeforeEach
    void install(TestPostgres server) throws Exception {
        schema = TestSchema.create(server, "validation");
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @AfterEach
    void drop() throws Exception {
        schema.drop();
    }

    static Stream<Arguments> differences() {
        return Stream.of(
                Arguments.of("DROP INDEX rowlock_job_due", "index job_due btree (queue, kind, priority, run_at, id)"),
                Arguments.of("DROP INDEX rowlock_job_failure_at", "index job_failure_at btree (at)"),
                Arguments.of(
                        "DROP INDEX rowlock_job_due; CREATE INDEX rowlock_job_due ON rowlock_job (queue)",
                        "index job_due"),
                Arguments.of(
                        "DROP INDEX rowlock_job_once;"
                                + "CREATE INDEX rowlock_job_once ON rowlock_job (kind, dedup_key) WHERE dedup_mode = 'once'",
                        "index job_once"),
                Arguments.of(
                        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rowlock_job_due'::regclass",
                        "index job_due"),
                Arguments.of(
                        "ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_pk", "index job_pk btree (id) unique"),
                Arguments.of("ALTER TABLE rowlock_job DROP COLUMN limit_key", "column job.limit_key text"),
                Arguments.of(
                        "ALTER TABLE rowlock_alert DROP COLUMN acknowledged_by", "column alert.acknowledged_by text"),
                Arguments.of(
                        "ALTER TABLE rowlock_job ALTER max_attempts TYPE bigint", "column job.max_attempts integer"),
                Arguments.of(
                        "ALTER TABLE rowlock_job ALTER payload TYPE jsonb USING payload::jsonb",
                        "column job.payload json not null"),
                Arguments.of(
                        "ALTER TABLE rowlock_job ALTER run_at DROP DEFAULT",
                        "column job.run_at timestamp with time zone not null default"),
                Arguments.of("ALTER TABLE rowlock_job ALTER kind DROP NOT NULL", "column job.kind text not null"),
                Arguments.of(
                        "ALTER TABLE rowlock_job ALTER id DROP IDENTITY", "column job.id bigint not null identity"),
                Arguments.of("ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_lease", "check job_lease"),
                Arguments.of("DROP TABLE rowlock_job_failure", "rowlock_job_failure is missing"),
                Arguments.of("ALTER TABLE rowlock_saga DROP COLUMN driver", "column saga.driver bigint"),
                Arguments.of("DROP TABLE rowlock_saga_step", "rowlock_saga_step is missing"),
                Arguments.of("DROP TABLE rowlock_saga_signal", "rowlock_saga_signal is missing"),
                Arguments.of("DROP TABLE rowlock_operation", "rowlock_operation is missing"),
                Arguments.of("DROP TABLE rowlock_job", "rowlock_job is missing"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("differences")
    void validate_names_what_differs_and_says_what_to_do(String change, String problem) throws Exception {
        schema.execute(change);

        SchemaException differs = catchThrowableOfType(
                SchemaException.class, () -> rowlock.schema().validate());

        assertThat(differs.problems()).anySatisfy(each -> assertThat(each).contains(problem));
        assertThat(differs)
                .hasMessageContaining(problem)
                .hasMessageContaining(schema.name())
                .hasMessageContaining("script(0)");
    }

    @Test
    void all_differences_are_named_at_once() throws Exception {
        schema.execute("DROP INDEX rowlock_job_due; DROP INDEX rowlock_job_subject; DROP TABLE rowlock_alert");

        SchemaException differs = catchThrowableOfType(
                SchemaException.class, () -> rowlock.schema().validate());

        assertThat(differs.problems())
                .anySatisfy(each -> assertThat(each).contains("index job_due"))
                .anySatisfy(each -> assertThat(each).contains("index job_subject"))
                .anySatisfy(each -> assertThat(each).contains("rowlock_alert is missing"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE INDEX their_own ON rowlock_job (created_at)",
                "ALTER TABLE rowlock_job ADD COLUMN theirs text",
                "CREATE TABLE rowlock_later (name text)",
                "ALTER TABLE rowlock_job ADD CONSTRAINT theirs CHECK (id > 0)",
                "INSERT INTO rowlock_schema (version) SELECT max(version) + 1 FROM rowlock_schema"
            })
    void what_is_there_beside_and_one_newer_version_are_tolerated(String change) throws Exception {
        schema.execute(change);

        rowlock.schema().validate();
        rowlock.schema().install();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schema WHERE version = 1"))
                .isEqualTo(1);
    }

    @Test
    void two_newer_versions_are_refused_with_the_advice_to_update_this_side() throws Exception {
        int known = rowlock.schema().version();
        schema.execute("INSERT INTO rowlock_schema (version) VALUES (" + (known + 1) + "), (" + (known + 2) + ")");

        assertThatThrownBy(() -> rowlock.schema().validate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining(
                        "they have version " + (known + 2) + ", this Rowlock knows versions up to " + (known + 1))
                .hasMessageContaining("use a newer Rowlock")
                .hasMessageNotContaining("install()");
    }

    @Test
    void tables_that_were_never_installed_are_refused_with_the_advice_to_install() throws Exception {
        schema.execute(
                "DROP TABLE rowlock_schema, rowlock_job, rowlock_job_failure, rowlock_alert, rowlock_key, rowlock_queue,"
                        + " rowlock_limit, rowlock_slot");

        assertThatThrownBy(() -> rowlock.schema().validate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("rowlock_schema is missing")
                .hasMessageContaining("call schema().install(), or run schema().script(0)");
    }

    @Test
    void a_schema_that_does_not_exist_is_refused_with_the_advice_to_install() throws Exception {
        schema.execute("DROP SCHEMA " + schema.name() + " CASCADE");

        assertThatThrownBy(() -> rowlock.schema().validate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("call schema().install()");
    }

    @Test
    void tables_without_a_version_are_refused() throws Exception {
        schema.execute("TRUNCATE rowlock_schema");

        assertThatThrownBy(() -> rowlock.schema().validate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("rowlock_schema is missing or empty");
    }

    @Test
    void a_lost_row_of_version_1_is_named_as_it_holds_the_installations_name() throws Exception {
        schema.execute("DELETE FROM rowlock_schema; INSERT INTO rowlock_schema (version) VALUES (13)");
        Worker worker = rowlock.worker(w -> w.handle(JobKind.named("mail", String.class), (mail, job) -> {}));

        assertThatThrownBy(() -> rowlock.schema().validate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("the row of version 1 is missing");
        assertThatThrownBy(worker::start)
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("the row of version 1 is missing");
    }

    @Test
    void without_a_data_source_the_tables_cannot_be_asked_for() {
        assertThatThrownBy(() -> Rowlock.builder().build().schema().validate())
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("has no data source");
    }
}
