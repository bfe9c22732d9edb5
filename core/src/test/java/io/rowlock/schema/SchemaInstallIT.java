package io.rowlock.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.fixture.Grants;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SchemaSql;
import io.rowlock.job.DedupMode;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

@PostgresTest
@Tag("B54")
final class SchemaInstallIT {
    private static final List<String> TABLES = List.of(
            "schema",
            "job",
            "job_failure",
            "alert",
            "key",
            "queue",
            "limit",
            "slot",
            "cancel_request",
            "saga",
            "saga_step",
            "saga_signal",
            "operation",
            "schedule",
            "alert_sink",
            "lease",
            "lease_history",
            "partition_member",
            "idempotency_key");

    @Kind("mail")
    private record Mail(int no) {}

    private TestSchema schema;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void create(TestPostgres server) throws Exception {
        schema = TestSchema.create(server, "install");
    }

    @AfterEach
    void drop() throws Exception {
        threads.shutdownNow();
        schema.drop();
    }

    @Test
    void installing_twice_changes_nothing() throws Exception {
        Schema tables = rowlock().schema();

        tables.install();
        List<String> first = schema.list(String.class, "SELECT installation::text FROM rowlock_schema");
        tables.install();

        assertThat(schema.list(String.class, "SELECT installation::text FROM rowlock_schema"))
                .isEqualTo(first)
                .hasSize(tables.version());
        tables.validate();
        assertThat(tables.version()).isEqualTo(13);
    }

    @Test
    void of_ten_that_install_at_once_one_applies_and_all_succeed() throws Exception {
        installAtOnce(10);

        rowlock().schema().validate();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schema"))
                .isEqualTo(rowlock().schema().version());
    }

    @Test
    @Tag("B47")
    void ten_install_at_once_under_a_stricter_default_isolation_too() throws Exception {
        for (String isolation : List.of("repeatable read", "serializable")) {
            schema.execute("DROP SCHEMA " + schema.name() + " CASCADE; CREATE SCHEMA " + schema.name());
            installAtOnce(10, "-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));

            rowlock().schema().validate();
        }
    }

    @Test
    void ten_that_start_at_once_on_older_tables_bring_them_up_once_and_keep_what_is_in_them() throws Exception {
        older(schema);

        installAtOnce(10);

        rowlock().schema().validate();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schema"))
                .isEqualTo(rowlock().schema().version());
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1_000);
    }

    @Test
    void of_ten_that_start_at_once_the_one_that_migrates_is_killed_half_way_and_another_does_it() throws Exception {
        older(schema);
        List<Future<?>> installing = new ArrayList<>();
        try (Connection other = schema.begin()) { // in the way of the last table that is changed
            other.createStatement().execute("LOCK TABLE rowlock_alert IN ACCESS EXCLUSIVE MODE");
            for (int i = 0; i < 10; i++) {
                installing.add(threads.submit(() -> rowlock().schema().install()));
            }
            String migrating = " FROM pg_stat_activity WHERE application_name = '" + schema.name()
                    + "' AND wait_event_type = 'Lock' AND wait_event = 'relation'";
            TestRowlock.soon().until(() -> schema.count("SELECT count(*)" + migrating) == 1);

            schema.execute("SELECT pg_terminate_backend(pid)" + migrating);

            TestRowlock.soon()
                    .until(() -> installing.stream().filter(Future::isDone).count() == 1);
            assertThat(schema.count("SELECT count(*) FROM rowlock_schema")).isEqualTo(8);
            other.rollback();
        }
        int killed = 0;
        for (Future<?> each : installing) {
            try {
                each.get();
            } catch (ExecutionException e) {
                assertThat(e).cause().isInstanceOf(DatabaseException.class);
                killed++;
            }
        }
        assertThat(killed).isEqualTo(1);
        rowlock().schema().validate();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1_000);
    }

    @Test
    void whoever_may_not_change_older_tables_is_told_which_script_the_owner_has_to_run() throws Exception {
        older(schema);
        String role = schema.name() + "_app";
        schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'app'");
        try {
            schema.execute("GRANT USAGE ON SCHEMA " + schema.name() + " TO " + role
                    + "; GRANT SELECT ON ALL TABLES IN SCHEMA " + schema.name() + " TO " + role);
            Rowlock app = rowlockAs(role);

            assertThatThrownBy(() -> app.schema().install())
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("let the owner run schema().script(8)");
            assertThatThrownBy(() -> app.schema().validate())
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("they have version 8, this Rowlock needs "
                            + app.schema().version())
                    .hasMessageContaining("script(8)");

            schema.execute(rowlock().schema().script(8));
            app.schema().validate();
            app.schema().install();
        } finally {
            schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    /** Those of version 8, with a thousand jobs in them. */
    private void older(TestSchema schema) throws Exception {
        String script = rowlock().schema().script(0);
        schema.execute(script.substring(0, script.indexOf("-- Rowlock 9")));
        schema.execute("INSERT INTO rowlock_job (kind, payload) SELECT 'mail', '{}' FROM generate_series(1, 1000)");
    }

    @Test
    void a_missing_schema_is_created() throws Exception {
        schema.execute("DROP SCHEMA " + schema.name());

        rowlock().schema().install();

        rowlock().schema().validate();
    }

    @Test
    void an_installation_that_is_killed_half_way_leaves_nothing_and_can_be_repeated() throws Exception {
        try (Connection other = schema.begin()) {
            other.createStatement().execute("CREATE TABLE rowlock_alert (id bigint)");
            Future<?> installing = threads.submit(() -> rowlock().schema().install());
            TestRowlock.soon()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                            + " AND wait_event_type = 'Lock' AND query LIKE '%CREATE TABLE%'",
                                    schema.name())
                            == 1);

            schema.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '"
                    + schema.name() + "' AND wait_event_type = 'Lock'");

            assertThatThrownBy(installing::get)
                    .cause()
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            lost -> assertThat(lost.sqlState()).isIn("57P01", "08006"));
            other.rollback();
        }
        assertThat(schema.count("SELECT count(*) FROM pg_class WHERE relnamespace = ?::regnamespace", schema.name()))
                .isZero();

        rowlock().schema().install();
        rowlock().schema().validate();
    }

    @Test
    void the_catalogue_that_validate_compares_with_is_what_install_makes() throws Exception {
        rowlock().schema().install();

        assertThat(catalogue(new Names(schema.name(), "rowlock_")))
                .as("after a change of the DDL, put this into catalogue.txt")
                .containsExactlyInAnyOrderElementsOf(
                        resource("catalogue.txt").lines().toList());
    }

    @Test
    void every_table_and_column_says_what_it_is_for() throws Exception {
        rowlock().schema().install();

        assertThat(schema.list(
                        String.class,
                        "SELECT c.relname || coalesce('.' || a.attname, '') FROM pg_class c"
                                + " LEFT JOIN LATERAL (SELECT NULL::name AS attname, 0 AS attnum UNION ALL"
                                + "   SELECT attname, attnum FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) a ON true"
                                + " WHERE c.relnamespace = ?::regnamespace AND c.relkind = 'r'"
                                + " AND coalesce(obj_description(c.oid), '') = '' AND a.attnum = 0"
                                + " OR c.relnamespace = ?::regnamespace AND c.relkind = 'r' AND a.attnum > 0"
                                + " AND coalesce(col_description(c.oid, a.attnum), '') = ''",
                        schema.name(),
                        schema.name()))
                .isEmpty();
        assertThat(schema.count(
                        "SELECT count(*) FROM pg_class WHERE relnamespace = ?::regnamespace AND relkind = 'r'",
                        schema.name()))
                .isEqualTo(TABLES.size());
    }

    @Test
    void a_script_run_by_hand_makes_the_same_tables_as_install() throws Exception {
        rowlock().schema().install();
        List<String> installed = everything();
        String script = rowlock().schema().script(0);
        String create = script.lines().toList().get(1);
        assertThat(create).isEqualTo("-- CREATE SCHEMA \"" + schema.name() + "\";");
        schema.execute("DROP SCHEMA " + schema.name() + " CASCADE");

        schema.execute(create.substring(3) + script);

        assertThat(everything()).isEqualTo(installed).hasSizeGreaterThan(100);
        rowlock().schema().validate();
        rowlock().schema().install();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schema"))
                .isEqualTo(rowlock().schema().version());
    }

    @Test
    void a_script_for_another_schema_and_prefix_says_those_names_everywhere() throws Exception {
        TestSchema.create(schema.server(), "x").close();
        String name = "rowlock_" + schema.name();
        schema.execute("CREATE SCHEMA " + name);
        try {
            Rowlock other = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .schema(name)
                    .tablePrefix("app_")
                    .build();
            String script = other.schema().script(0);

            schema.execute(script);

            other.schema().validate();
            assertThat(script).contains("GRANT USAGE ON SCHEMA \"" + name + "\" TO app_role");
            assertThat(catalogue(new Names(name, "app_")))
                    .containsExactlyInAnyOrderElementsOf(
                            resource("catalogue.txt").lines().toList());
            assertThat(schema.count(
                            "SELECT count(*) FROM pg_class WHERE relnamespace = ?::regnamespace AND relname NOT LIKE 'app\\_%'",
                            name))
                    .isZero();
        } finally {
            schema.execute("DROP SCHEMA " + name + " CASCADE");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9})
    void tables_of_an_older_version_are_brought_to_this_one_by_install_or_by_the_script_from_there(int version)
            throws Exception {
        Schema tables = rowlock().schema();
        String first = tables.script(0).substring(0, tables.script(0).indexOf("-- Rowlock " + (version + 1)));
        tables.install();
        List<String> installed = everything();
        for (boolean byScript : List.of(true, false)) {
            schema.execute("DROP SCHEMA " + schema.name() + " CASCADE; CREATE SCHEMA " + schema.name());
            schema.execute(first);
            schema.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('mail', '{}')");
            assertThatThrownBy(tables::validate)
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("they have version " + version + ", this Rowlock needs " + tables.version())
                    .hasMessageContaining("script(" + version + ")");

            if (byScript) {
                schema.execute(tables.script(version));
            } else {
                tables.install();
            }

            tables.validate();
            assertThat(everything()).isEqualTo(installed);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1);
        }
    }

    @Test
    void a_script_from_the_newest_version_is_empty_and_from_an_unknown_one_refused() {
        Schema tables = rowlock().schema();

        assertThat(tables.script(tables.version())).isEmpty();
        assertThatThrownBy(() -> tables.script(tables.version() + 1))
                .isInstanceOf(InvalidUseException.class)
                .hasMessage("fromVersion must be between 0 and 13, got 14");
        assertThatThrownBy(() -> tables.script(-1)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void a_custom_schema_and_prefix_work_from_enqueue_to_dead_letter() throws Exception {
        TestRowlock custom = TestRowlock.custom(schema, "app_");
        long good = custom.enqueue(new Mail(1), o -> o.subject("Order:1")).id();
        long bad = custom.enqueue(new Mail(-1), o -> o.maxAttempts(1)).id();

        try (Worker worker = custom.work(w -> w.handle(Mail.class, (mail, job) -> {
            if (mail.no() < 0) {
                throw new IllegalStateException("no such mail");
            }
        }))) {
            custom.awaitState(good, JobState.COMPLETED);
            custom.awaitState(bad, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(custom.rowlock().jobs().ofSubject("Order:1")).hasSize(1);
        assertThat(custom.rowlock().jobs().failures(bad)).hasSize(1);
        assertThat(schema.count("SELECT count(*) FROM app_alert WHERE kind = 'mail'"))
                .isEqualTo(1);
    }

    @Test
    void a_role_with_the_scripts_grants_can_enqueue_and_work_but_is_told_that_it_cannot_install() throws Exception {
        String role = schema.name() + "_app";
        schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'app'");
        try {
            Rowlock app = rowlockAs(role);
            assertThatThrownBy(() -> app.schema().install())
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("could not be installed in schema " + schema.name() + "; nothing was changed")
                    .hasMessageContaining("let the owner run schema().script(0)");

            schema.execute(rowlock().schema().script(0));
            schema.execute(Grants.of(rowlock().schema(), role));

            app.schema().install();
            long id;
            try (Connection connection = as(role).getConnection()) {
                connection.setAutoCommit(false);
                id = app.outbox().enqueue(connection, new Mail(7)).id();
                app.outbox().enqueue(connection, new Mail(8), o -> o.dedupKey("a"));
                app.outbox().enqueue(connection, new Mail(9), o -> o.dedupKey("a", DedupMode.REPLACE));
                connection.createStatement().execute("SELECT rowlock_enqueue('mail', '{}', dedup_key => 'a')");
                connection.commit();
            }
            try (Worker worker =
                    app.worker(w -> w.keepCompleted(java.time.Duration.ZERO).handle(Mail.class, (mail, job) -> {}))) {
                worker.start();
                TestRowlock.soon().until(() -> app.jobs().find(id).isEmpty());
            }
        } finally {
            schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    @Test
    @Tag("P15")
    void a_role_that_may_not_draw_ids_is_told_so_by_no_error_of_the_server() throws Exception {
        String role = schema.name() + "_app";
        schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'app'");
        try {
            rowlock().schema().install();
            schema.execute(
                    Grants.of(rowlock().schema(), role) + "REVOKE USAGE ON SEQUENCE rowlock_job_id_seq FROM " + role);
            Rowlock app = rowlockAs(role);
            try (Connection connection = as(role).getConnection()) {
                connection.setAutoCommit(false);
                for (int jobs : new int[] {1, 2}) {
                    List<JobRequest<Mail>> batch = new ArrayList<>();
                    for (int no = 0; no < jobs; no++) {
                        String key = "key-" + no;
                        batch.add(JobRequest.of(new Mail(no), o -> o.dedupKey(key)));
                    }
                    assertThatThrownBy(() -> app.outbox().enqueueAll(connection, batch))
                            .isInstanceOf(InvalidUseException.class)
                            .hasMessageContaining(
                                    "GRANT USAGE ON SEQUENCE \"" + schema.name() + "\".rowlock_job_id_seq");
                }
                app.outbox().enqueue(connection, new Mail(1));
                connection.commit();
            }
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1);
        } finally {
            schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    private void installAtOnce(int installers, String... options) throws Exception {
        PGSimpleDataSource source = schema.dataSource();
        if (options.length > 0) {
            source.setOptions(options[0]);
        }
        CountDownLatch start = new CountDownLatch(1);
        List<Future<?>> installing = new ArrayList<>();
        for (int i = 0; i < installers; i++) {
            Rowlock each =
                    Rowlock.builder().dataSource(source).schema(schema.name()).build();
            installing.add(threads.submit((Callable<Void>) () -> {
                start.await();
                each.schema().install();
                return null;
            }));
        }
        start.countDown();
        for (Future<?> each : installing) {
            each.get();
        }
    }

    private Rowlock rowlock() {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
    }

    private Rowlock rowlockAs(String role) {
        return Rowlock.builder().dataSource(as(role)).schema(schema.name()).build();
    }

    private PGSimpleDataSource as(String role) {
        PGSimpleDataSource source = schema.dataSource();
        source.setUser(role);
        source.setPassword("app");
        return source;
    }

    private List<String> catalogue(Names names) throws Exception {
        try (Connection connection = schema.connect()) {
            return new SchemaSql(names).catalogue(connection, TABLES);
        }
    }

    /** Columns with their defaults, constraints, indexes, storage settings and comments. */
    private List<String> everything() throws Exception {
        return schema.list(
                String.class,
                "SELECT c.relname || ' ' || coalesce(c.reloptions::text, '') || coalesce(obj_description(c.oid), '')"
                        + " FROM pg_class c WHERE relnamespace = ?::regnamespace"
                        + " UNION ALL SELECT c.relname || '.' || a.attname || a.attnum::text || format_type(a.atttypid, a.atttypmod)"
                        + " || a.attnotnull::text || a.attidentity::text || coalesce(pg_get_expr(d.adbin, d.adrelid), '')"
                        + " || coalesce(col_description(c.oid, a.attnum), '')"
                        + " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
                        + " LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum"
                        + " WHERE relnamespace = ?::regnamespace AND a.attnum > 0"
                        + " UNION ALL SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint"
                        + " WHERE connamespace = ?::regnamespace"
                        + " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = ? ORDER BY 1",
                schema.name(),
                schema.name(),
                schema.name(),
                schema.name());
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Schema.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
