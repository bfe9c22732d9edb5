package io.rowlock.checkup;

import static io.rowlock.checkup.Checked.codes;
import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.Grants;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a checkup says about tables, rights, dead rows and durability, on a server with the settings of production. */
final class DatabaseCheckupIT {
    private static final OwnPostgres SERVER =
            TestPostgres.embedded(o -> o.durable().setting("max_prepared_transactions", "5"));

    private Checked checked;

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @BeforeEach
    void install() throws Exception {
        checked = new Checked(SERVER);
    }

    @AfterEach
    void drop() throws Exception {
        checked.close();
    }

    @Test
    void a_clean_installation_has_nothing_above_a_remark() {
        assertThat(checked.findings()).extracting(Finding::severity).containsOnly(Severity.REMARK);
        assertThat(codes(checked.findings())).containsExactly("silent-connection", "owner-role");
    }

    @Test
    void the_role_of_a_worker_is_told_what_it_cannot_see_and_nothing_else() throws Exception {
        String role = role();

        List<Finding> findings = checked.over(checked.as(role)::getConnection);

        assertThat(codes(findings)).containsExactly("silent-connection", "not-checked");
        assertThat(findings.get(1).remedy()).isEqualTo("GRANT pg_read_all_stats TO " + role + ";");
        checked.schema.execute(findings.get(1).remedy());
        assertThat(codes(checked.over(checked.as(role)::getConnection))).containsExactly("silent-connection");
        forget(role);
    }

    @Test
    void a_missing_right_is_named_with_its_grant() throws Exception {
        String role = role();
        checked.schema.execute("REVOKE DELETE, INSERT ON rowlock_job FROM " + role);
        checked.schema.execute("REVOKE USAGE ON SEQUENCE rowlock_job_id_seq FROM " + role);

        List<Finding> findings = missing(checked.over(checked.as(role)::getConnection));

        assertThat(findings).extracting(Finding::severity).containsOnly(Severity.PROBLEM);
        assertThat(findings)
                .extracting(Finding::seen)
                .containsExactlyInAnyOrder(
                        "Role " + role + " lacks DELETE, INSERT on " + checked.schema.name() + ".rowlock_job",
                        "Role " + role + " may not draw from sequence rowlock_job_id_seq");
        for (Finding each : findings) {
            checked.schema.execute(each.remedy());
        }
        assertThat(missing(checked.over(checked.as(role)::getConnection))).isEmpty();
        forget(role);
    }

    @Test
    void without_any_right_each_check_says_what_it_could_not_look_at() throws Exception {
        String role = role();
        checked.schema.execute("REVOKE ALL ON SCHEMA " + checked.schema.name() + " FROM " + role);

        List<Finding> findings = checked.over(checked.as(role)::getConnection);

        assertThat(missing(findings))
                .extracting(Finding::remedy)
                .contains("GRANT USAGE ON SCHEMA " + checked.schema.name() + " TO " + role + ";");
        assertThat(findings)
                .filteredOn(each -> each.code().equals("not-checked"))
                .extracting(Finding::seen)
                .anyMatch(seen -> seen.contains("columns and indexes") && seen.contains("the role lacks a right"))
                .anyMatch(seen -> seen.contains("jobs that wait"));
        forget(role);
    }

    private static List<Finding> missing(List<Finding> findings) {
        return findings.stream()
                .filter(each -> each.code().equals("right-missing"))
                .toList();
    }

    private String role() throws Exception {
        String role = "r_" + checked.schema.name();
        checked.schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        checked.schema.execute(Grants.of(checked.rowlock.schema(), role));
        return role;
    }

    private void forget(String role) throws Exception {
        checked.schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
    }

    @Test
    @Tag("B54")
    void an_invalid_index_is_named_with_its_rebuild_and_once() throws Exception {
        checked.schema.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rowlock_job_due'::regclass");

        assertThat(codes(checked.findings())).contains("index-invalid").doesNotContain("index-missing");
        checked.cure("index-invalid");
        assertThat(codes(checked.findings())).doesNotContain("index-invalid", "index-missing");
    }

    @ParameterizedTest
    @Tag("B54")
    @ValueSource(
            strings = {
                "DROP INDEX rowlock_job_due",
                "DROP INDEX rowlock_job_once",
                "DROP INDEX rowlock_job_order",
                "DROP INDEX rowlock_job_failure_at",
                "ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_pk"
            })
    void a_missing_index_is_named_with_the_statement_that_makes_it(String change) throws Exception {
        checked.schema.execute(change);

        assertThat(codes(checked.findings())).contains("index-missing");
        checked.cure("index-missing");
        checked.rowlock.schema().validate();
        assertThat(codes(checked.findings())).doesNotContain("index-missing");
    }

    @Test
    @Tag("B54")
    void tables_that_are_not_there_at_all_or_of_before_are_installed() throws Exception {
        checked.schema.execute("DELETE FROM rowlock_schema WHERE version > 5");
        assertThat(remedies("tables-missing"))
                .singleElement(InstanceOfAssertFactories.STRING)
                .startsWith("rowlock --schema " + checked.schema.name() + " schema install\n# or")
                .contains("rowlock --schema " + checked.schema.name() + " schema script --from=5");

        checked.schema.execute("INSERT INTO rowlock_schema (version) VALUES (99)");
        assertThat(remedies("tables-missing"))
                .singleElement(InstanceOfAssertFactories.STRING)
                .startsWith("Use a newer Rowlock");

        checked.schema.execute(
                "DROP SCHEMA " + checked.schema.name() + " CASCADE; CREATE SCHEMA " + checked.schema.name());
        assertThat(remedies("tables-missing"))
                .singleElement(InstanceOfAssertFactories.STRING)
                .startsWith("rowlock --schema " + checked.schema.name() + " schema install\n# or")
                .contains("whether schema and prefix are the right ones");

        checked.schema.execute("DROP SCHEMA " + checked.schema.name());
        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("tables-missing"))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.seen()).endsWith(": schema " + checked.schema.name() + " is missing");
                    assertThat(each.remedy()).contains("makes the schema too");
                });
    }

    private List<String> remedies(String code) {
        return checked.findings().stream()
                .filter(each -> each.code().equals(code))
                .map(Finding::remedy)
                .toList();
    }

    @Test
    @Tag("B54")
    void an_index_that_is_another_is_replaced() throws Exception {
        checked.schema.execute("DROP INDEX rowlock_job_due; CREATE INDEX rowlock_job_due ON rowlock_job (queue)");

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("index-missing"))
                .singleElement()
                .satisfies(each -> assertThat(each.remedy())
                        .startsWith("DROP INDEX IF EXISTS \"" + checked.schema.name()
                                + "\".rowlock_job_due; CREATE INDEX CONCURRENTLY"));
    }

    @ParameterizedTest
    @Tag("B54")
    @CsvSource(
            delimiter = '|',
            value = {
                "ALTER TABLE rowlock_job ALTER max_attempts TYPE bigint | tables-differ | max_attempts TYPE integer USING max_attempts::integer;",
                "ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_lease | tables-differ | ADD CONSTRAINT rowlock_job_lease CHECK ((locked_by IS NULL)",
                "DROP TABLE rowlock_job_failure | tables-missing | CREATE INDEX rowlock_job_failure_at",
                "DROP TABLE rowlock_schema | tables-missing | the installation's name"
            })
    void what_differs_in_the_tables_is_named(String change, String code, String remedy) throws Exception {
        checked.schema.execute(change);

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals(code))
                .singleElement()
                .satisfies(each -> assertThat(each.remedy()).contains(remedy))
                .extracting(Finding::severity)
                .isEqualTo(Severity.PROBLEM);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALTER TABLE rowlock_job SET (autovacuum_enabled = false) | autovacuum-off-for-table",
                "ALTER TABLE rowlock_job SET (fillfactor = 100) | table-option",
                "ALTER TABLE rowlock_key RESET (autovacuum_vacuum_scale_factor) | table-option",
                "ALTER TABLE rowlock_job SET UNLOGGED | table-unlogged",
                "ALTER TABLE rowlock_job ENABLE ROW LEVEL SECURITY | row-security",
                "CREATE RULE theirs AS ON DELETE TO rowlock_job DO ALSO NOTIFY gone | foreign-rule"
            })
    void what_somebody_did_to_the_tables_is_named_and_what_is_to_be_typed_undoes_it(String change, String code)
            throws Exception {
        checked.schema.execute(change);

        assertThat(codes(checked.findings())).contains(code);
        checked.cure(code);
        assertThat(codes(checked.findings())).doesNotContain(code);
    }

    @Test
    void a_trigger_of_somebody_else_is_named() throws Exception {
        checked.schema.execute("CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
                + "CREATE TRIGGER theirs BEFORE INSERT ON rowlock_job FOR EACH ROW EXECUTE FUNCTION theirs()");

        assertThat(codes(checked.findings())).contains("foreign-trigger");
        checked.cure("foreign-trigger");
        assertThat(codes(checked.findings())).doesNotContain("foreign-trigger");
    }

    @Test
    void a_published_table_whose_rows_could_not_be_deleted_is_named() throws Exception {
        checked.schema.execute("CREATE PUBLICATION theirs FOR TABLE rowlock_job, rowlock_job_failure");

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("replica-identity"))
                .extracting(Finding::seen)
                .containsExactly("Table " + checked.schema.name()
                        + ".rowlock_job_failure is published by theirs and has no" + " replica identity");
        checked.cure("replica-identity");
        assertThat(codes(checked.findings())).doesNotContain("replica-identity");
        checked.schema.execute("DROP PUBLICATION theirs");
    }

    @Test
    @Tag("B58")
    void a_transaction_that_keeps_dead_rows_is_named_with_its_backend() throws Exception {
        try (Connection report = checked.schema.begin()) {
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            int pid = pid(report);

            assertThat(checked.strictly())
                    .filteredOn(each -> each.code().equals("old-transaction"))
                    .singleElement()
                    .satisfies(each -> {
                        assertThat(each.seen())
                                .contains("Backend " + pid, checked.schema.name(), "idle in transaction");
                        assertThat(each.remedy()).startsWith("SELECT pg_terminate_backend(" + pid + ")");
                    });
            assertThat(codes(checked.findings())).doesNotContain("old-transaction");
        }
    }

    private static int pid(Connection connection) throws Exception {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(
                        "SELECT pg_backend_pid() FROM rowlock_job RIGHT JOIN (VALUES (1)) v ON true")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    @Tag("B58")
    void a_prepared_transaction_and_a_slot_without_a_reader_are_named() throws Exception {
        try (Connection forgotten = checked.schema.begin();
                var statement = forgotten.createStatement()) {
            statement.execute("INSERT INTO rowlock_queue (queue) VALUES ('mail')");
            statement.execute("PREPARE TRANSACTION 'forgotten'");
        }
        checked.schema.execute("SELECT pg_create_physical_replication_slot('lonely')");

        assertThat(codes(checked.strictly())).contains("prepared-transaction", "slot-inactive");
        for (Finding each : checked.strictly()) {
            if (each.code().equals("prepared-transaction") || each.code().equals("slot-inactive")) {
                checked.schema.execute(each.remedy());
            }
        }
        assertThat(codes(checked.strictly())).doesNotContain("prepared-transaction", "slot-inactive");
    }

    @Test
    @Tag("B58")
    void dead_rows_and_the_room_they_leave_are_named() throws Exception {
        checked.schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
        checked.schema.execute("INSERT INTO rowlock_job (kind, payload, subject)"
                + " SELECT 'mail', '{}', repeat('x', 190) || n FROM generate_series(1, 2000) n");
        checked.schema.execute("DELETE FROM rowlock_job");

        soon().untilAsserted(() -> assertThat(codes(checked.strictly())).contains("dead-rows", "table-bloat"));
        checked.schema.execute("VACUUM (TRUNCATE false) rowlock_job");
        soon().untilAsserted(() ->
                assertThat(codes(checked.strictly())).contains("index-bloat").doesNotContain("dead-rows"));
        assertThat(codes(checked.findings())).doesNotContain("dead-rows", "table-bloat", "index-bloat");
    }

    @Test
    void a_table_that_somebody_has_locked_is_not_waited_for() throws Exception {
        try (Connection locker = checked.schema.begin();
                var statement = locker.createStatement()) {
            statement.execute("LOCK TABLE rowlock_job IN ACCESS EXCLUSIVE MODE");

            assertThat(checked.findings())
                    .filteredOn(each -> each.code().equals("not-checked"))
                    .isNotEmpty()
                    .allSatisfy(each -> assertThat(each.seen()).contains("somebody holds a lock"));
        }
    }

    @Test
    void a_connection_that_is_lost_in_the_middle_ends_the_round_with_what_was_found_until_then() throws Exception {
        try (Connection locker = checked.schema.begin();
                var statement = locker.createStatement()) {
            statement.execute("LOCK TABLE rowlock_job IN ACCESS EXCLUSIVE MODE");
            CompletableFuture<List<Finding>> findings = CompletableFuture.supplyAsync(checked::findings);
            soon().until(() -> checked.schema.count("SELECT count(pg_terminate_backend(pid)) FROM pg_locks"
                            + " WHERE NOT granted AND relation = 'rowlock_job'::regclass")
                    == 1);

            assertThat(codes(findings.get(30, TimeUnit.SECONDS)))
                    .startsWith("unreachable")
                    .contains("silent-connection", "owner-role");
        }
    }

    @Test
    void settings_that_lose_commits_are_named() throws Exception {
        try (Checked unsafe = new Checked(TestPostgres.shared())) {
            assertThat(codes(unsafe.findings())).contains("fsync-off", "full-page-writes-off", "asynchronous-commit");
        }
        assertThat(codes(checked.with("options=-c%20synchronous_commit=off"))).contains("asynchronous-commit");
    }

    @Test
    void autovacuum_that_is_off_for_the_whole_server_is_named() throws Exception {
        setting("autovacuum", "off");
        assertThat(codes(checked.findings())).contains("autovacuum-off");
        setting("autovacuum", "on");
    }

    @Test
    @Tag("B51")
    void standbys_and_what_a_failover_to_them_would_lose_are_named() throws Exception {
        try (OwnPostgres standby = SERVER.standby()) {
            assertThat(codes(checked.findings())).contains("asynchronous-standby");
            soon().untilAsserted(() -> assertThat(codes(onStandby(standby))).contains("in-recovery"));
            assertThat(codes(onStandby(standby)))
                    .doesNotContain("asynchronous-standby", "not-checked", "tables-missing");
        }
        setting("synchronous_standby_names", "gone");
        soon().untilAsserted(() -> assertThat(codes(checked.findings())).contains("synchronous-standby-missing"));
        setting("synchronous_standby_names", "");
    }

    private List<Finding> onStandby(OwnPostgres standby) {
        return checked.over(standby.dataSource()::getConnection);
    }

    private void setting(String name, String value) throws Exception {
        try (Connection connection = SERVER.connect();
                var statement = connection.createStatement()) {
            statement.execute("ALTER SYSTEM SET " + name + " = '" + value + "'");
            statement.execute("SELECT pg_reload_conf()");
        }
        soon().until(() -> checked.schema
                .one(String.class, "SELECT current_setting(?)", name)
                .orElseThrow()
                .equals(value));
    }
}
