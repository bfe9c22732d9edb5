package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A command that a checkup gives as a remedy is typed as it stands, for tables that have not the usual place and names. */
@PostgresTest
final class RemedyIT {
    private static final By ADA = new By("ada", "a test");
    private static final String PREFIX = "shop_";

    private TestSchema schema;
    private Terminal terminal;
    private Rowlock rowlock;

    @BeforeEach
    void install(TestSchema own) throws Exception {
        schema = own;
        terminal = new Terminal(own);
        rowlock = Rowlock.builder()
                .dataSource(own.dataSource())
                .schema(own.name())
                .tablePrefix(PREFIX)
                .build();
        rowlock.schema().install();
        own.execute("TRUNCATE shop_job, shop_queue, shop_operation, shop_alert, shop_key, shop_schedule");
    }

    private List<String> remedies(String code, String schemaName) throws Exception {
        terminal.bare(
                "checkup",
                "--json",
                "--url",
                schema.server().url(),
                "--user",
                schema.user(),
                "--schema",
                schemaName,
                "--prefix",
                PREFIX);
        List<String> commands = new ArrayList<>();
        for (JsonNode each : terminal.json()) {
            if (each.get("code").asText().equals(code)) {
                each.get("remedy")
                        .asText()
                        .lines()
                        .filter(line -> !line.startsWith("#"))
                        .forEach(commands::add);
            }
        }
        return commands;
    }

    private List<String> remedies(String code) throws Exception {
        return remedies(code, schema.name());
    }

    /** As a shell reads it; the environment has the password and nothing else. */
    private int type(String line) throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "rowlock() { printf '%s\\0' \"$@\"; }; " + line).start();
        String words = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor()).as(line).isZero();
        assertThat(line).doesNotContainIgnoringCase("password");
        return terminal.bare(words.split("\0"));
    }

    private long dead(String key) throws Exception {
        long id = schema.count("INSERT INTO shop_job (kind, payload, state, ordering_key, finished_at)"
                + " VALUES ('mail', '{}', 'dead', '" + key + "', clock_timestamp()) RETURNING id");
        schema.execute(
                "INSERT INTO shop_key (queue, ordering_key, blocked_by) VALUES ('default', '" + key + "', " + id + ")");
        return id;
    }

    @Test
    void a_paused_queue_is_resumed_whatever_its_name() throws Exception {
        rowlock.queues().pause("it's late", ADA);
        List<String> commands = remedies("queue-paused");
        assertThat(commands).hasSize(1);
        assertThat(type(commands.get(0))).as(terminal.err()).isZero();
        assertThat(remedies("queue-paused")).isEmpty();
    }

    @Test
    void a_dead_head_is_revived_or_skipped() throws Exception {
        dead("Order:1");
        List<String> commands = remedies("dead-heads");
        assertThat(commands).hasSize(2);
        assertThat(type(commands.get(0))).as(terminal.err()).isZero();
        assertThat(remedies("dead-heads")).isEmpty();

        dead("Order:2");
        assertThat(type(remedies("dead-heads").get(1))).as(terminal.err()).isZero();
        assertThat(remedies("dead-heads")).isEmpty();
    }

    @Test
    void a_redacted_head_can_be_skipped_only() throws Exception {
        long id = dead("Order:1");
        schema.execute("UPDATE shop_job SET redacted_at = clock_timestamp() WHERE id = " + id);
        List<String> commands = remedies("dead-heads");
        assertThat(commands).singleElement().satisfies(line -> assertThat(line).contains(" jobs skip " + id + ' '));
        assertThat(type(commands.get(0))).as(terminal.err()).isZero();
        assertThat(remedies("dead-heads")).isEmpty();
    }

    @Test
    void dead_letters_and_late_jobs_are_listed() throws Exception {
        dead("Order:1");
        schema.execute("INSERT INTO shop_job (kind, payload, run_at) VALUES ('mail', '{}',"
                + " clock_timestamp() - interval '1 hour')");
        for (String code : List.of("dead-letters", "jobs-late")) {
            List<String> commands = remedies(code);
            assertThat(commands).as(code).hasSize(1);
            assertThat(type(commands.get(0))).as(terminal.err()).isZero();
        }
    }

    @Test
    void an_alert_of_a_schedule_is_acknowledged() throws Exception {
        schema.execute("INSERT INTO shop_alert (cause, kind, bucket, reason)"
                + " SELECT 'schedule not firing', 'nightly', clock_timestamp() + n * interval '1 hour', 'why ' || n"
                + " FROM generate_series(1, 2) n");
        List<String> commands = remedies("schedule-not-firing");
        assertThat(commands).hasSize(2);
        for (String each : commands) {
            assertThat(type(each)).as(each + terminal.err()).isIn(ExitCode.FINE, ExitCode.NOTHING);
        }
        assertThat(remedies("schedule-not-firing")).isEmpty();
    }

    @Test
    void a_schema_that_is_not_there_is_said_and_made_where_it_was_looked_for() throws Exception {
        String nowhere = schema.name() + "_nowhere";
        try {
            List<String> commands = remedies("tables-missing", nowhere);
            assertThat(commands).hasSize(1);
            assertThat(terminal.out()).contains("schema " + nowhere + " is missing");

            assertThat(type(commands.get(0))).as(terminal.err()).isZero();
            assertThat(terminal.err()).contains("The schema was not there: it was created");
            assertThat(remedies("tables-missing", nowhere)).isEmpty();

            assertThat(type(commands.get(0))).isZero();
            assertThat(terminal.err()).doesNotContain("created");
        } finally {
            schema.execute("DROP SCHEMA IF EXISTS " + nowhere + " CASCADE");
        }
    }

    @Test
    void what_an_error_says_to_type_is_for_the_same_tables_too() throws Exception {
        String nowhere = schema.name() + "_nowhere";
        assertThat(type("rowlock --schema " + nowhere + " jobs find --kind mail --url '"
                        + schema.server().url() + "' --user " + schema.user()))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err())
                .contains("--schema " + nowhere + " schema install makes the tables")
                .contains("rowlock --url ")
                .doesNotContain("--password");
    }
}
