package io.rowlock.checkup;

import static io.rowlock.fixture.TestRowlock.soon;
import static java.util.Map.entry;

import io.rowlock.fixture.Grants;
import io.rowlock.internal.checkup.Symptom;
import io.rowlock.testkit.postgres.OwnPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** What can be wrong, made so: a way or more for each symptom whose remedy is SQL. */
final class Faults {
    /** The symptoms whose remedies cannot be typed into a test, and why. */
    static final Map<Symptom, String> WITHOUT = Map.ofEntries(
            entry(Symptom.UNREACHABLE, "nothing to type: there is no server"),
            entry(Symptom.SERVER_TOO_OLD, "another server"),
            entry(Symptom.IN_RECOVERY, "the URL of the data source"),
            entry(Symptom.TRANSACTION_POOLER, "the settings of a pooler"),
            entry(Symptom.SECOND_CONNECTION, "the settings of a pool"),
            entry(Symptom.CONNECT_TIMEOUT, "the URL of the data source"),
            entry(Symptom.SILENT_CONNECTION, "the URL of the data source"),
            entry(Symptom.SHORT_SOCKET_TIMEOUT, "the URL of the data source"),
            entry(Symptom.OWNER_ROLE, "a role that the application then runs as"),
            entry(Symptom.CLOCK_SKEW, "the machine's clock"),
            entry(Symptom.KIND_LATE_WITHOUT_HANDLER, "the application's code"),
            entry(Symptom.KIND_WITHOUT_HANDLER, "the application's code"),
            entry(Symptom.QUEUE_LATE_WITHOUT_WORKER, "the application's code"),
            entry(Symptom.QUEUE_WITHOUT_WORKER, "the application's code"),
            entry(Symptom.HANDLER_WITHOUT_JOBS, "nothing to do"),
            entry(Symptom.JOBS_LATE, "more workers"),
            entry(Symptom.QUEUE_PAUSED_WITH_JOBS, "a command of the command line"),
            entry(Symptom.QUEUE_PAUSED, "a command of the command line"),
            entry(Symptom.DEAD_HEADS, "a command of the command line"),
            entry(Symptom.DEAD_LETTERS, "a command of the command line"),
            entry(Symptom.SCHEDULE_NOT_FIRING, "commands of the command line"));

    final OwnPostgres server;
    final Checked checked;
    private final Deque<AutoCloseable> undo = new ArrayDeque<>();

    Faults(OwnPostgres server, Checked checked) {
        this.server = server;
        this.checked = checked;
    }

    /** Brings it about. */
    @FunctionalInterface
    interface Provoked {
        Sick in(Faults faults) throws Exception;
    }

    /** How it is looked at, and where its remedy is typed. */
    record Sick(Callable<List<Finding>> look, Callable<Connection> psql) {}

    /** One way to get a symptom. */
    record Fault(Symptom symptom, String how, Provoked provoked) {
        @Override
        public String toString() {
            return symptom.code() + ": " + how;
        }
    }

    static List<Fault> all() {
        List<Fault> all = new ArrayList<>();
        settings(all);
        durability(all);
        shapes(all);
        tables(all);
        horizons(all);
        rights(all);
        return all;
    }

    private static void settings(List<Fault> all) {
        String readOnly = "default_transaction_read_only = on";
        all.add(new Fault(Symptom.READ_ONLY, "the role", f -> f.asRole("ALTER ROLE %1$s SET " + readOnly)));
        all.add(new Fault(
                Symptom.READ_ONLY,
                "the role in the database",
                f -> f.asRole("ALTER ROLE %1$s IN DATABASE %2$s SET " + readOnly)));
        all.add(new Fault(Symptom.READ_ONLY, "the database", f -> f.byDatabase(readOnly)));
        all.add(new Fault(
                Symptom.READ_ONLY, "the server", f -> f.byServer("default_transaction_read_only", "on", "off")));
        all.add(new Fault(
                Symptom.DEFAULT_ISOLATION,
                "the role",
                f -> f.asRole("ALTER ROLE %1$s SET default_transaction_isolation = serializable")));
        all.add(new Fault(Symptom.STATEMENT_TIMEOUT, "the database", f -> f.byDatabase("statement_timeout = 2000")));
        all.add(new Fault(
                Symptom.STATEMENT_TIMEOUT, "the role", f -> f.asRole("ALTER ROLE %1$s SET statement_timeout = 2000")));
        all.add(new Fault(Symptom.STATEMENT_TIMEOUT, "the server", f -> f.byServer("statement_timeout", "2s", "0")));
        all.add(new Fault(
                Symptom.IDLE_SESSION_TIMEOUT,
                "the role",
                f -> f.asRole("ALTER ROLE %1$s SET idle_session_timeout = 600000")));
        all.add(new Fault(
                Symptom.IDLE_TRANSACTION_TIMEOUT,
                "the role in the database",
                f -> f.asRole("ALTER ROLE %1$s IN DATABASE %2$s SET idle_in_transaction_session_timeout = 30000")));
        all.add(new Fault(
                Symptom.TRANSACTION_TIMEOUT,
                "the role",
                f -> f.asRole("ALTER ROLE %1$s SET transaction_timeout = 30000")));
        all.add(new Fault(Symptom.CONNECTIONS_FEW, "the role", f -> f.asRole("ALTER ROLE %1$s CONNECTION LIMIT 3")));
        all.add(new Fault(
                Symptom.ASYNCHRONOUS_COMMIT,
                "the role",
                f -> f.asRole("ALTER ROLE %1$s SET synchronous_commit = off")));
        all.add(new Fault(Symptom.ASYNCHRONOUS_COMMIT, "the database", f -> f.byDatabase("synchronous_commit = off")));
    }

    private static void durability(List<Fault> all) {
        all.add(new Fault(Symptom.FSYNC_OFF, "the server", f -> f.byServer("fsync", "off", "on")));
        all.add(new Fault(
                Symptom.FULL_PAGE_WRITES_OFF, "the server", f -> f.byServer("full_page_writes", "off", "on")));
        all.add(new Fault(Symptom.AUTOVACUUM_OFF, "the server", f -> f.byServer("autovacuum", "off", "on")));
        all.add(new Fault(Symptom.AUTOVACUUM_OFF, "counts", f -> f.byServer("track_counts", "off", "on")));
        all.add(new Fault(Symptom.SYNCHRONOUS_STANDBY_MISSING, "none came", f -> {
            f.byServer("synchronous_standby_names", "gone", "");
            return f.plain();
        }));
        all.add(new Fault(Symptom.ASYNCHRONOUS_STANDBY, "one follows", f -> {
            f.undo.push(() -> f.setting("synchronous_standby_names", ""));
            f.undo.push(f.server.standby());
            return f.plain();
        }));
    }

    private static void shapes(List<Fault> all) {
        for (String change : List.of(
                "ALTER TABLE rowlock_job DROP COLUMN limited",
                "ALTER TABLE rowlock_job DROP COLUMN queue CASCADE",
                "ALTER TABLE rowlock_saga DROP COLUMN queue",
                "ALTER TABLE rowlock_alert DROP COLUMN untold",
                "ALTER TABLE rowlock_schedule DROP COLUMN name",
                "ALTER TABLE rowlock_operation DROP COLUMN id",
                "ALTER TABLE rowlock_job ALTER max_attempts TYPE bigint",
                "ALTER TABLE rowlock_job ALTER subject TYPE varchar(200), ALTER priority DROP DEFAULT",
                "ALTER TABLE rowlock_job ALTER queue DROP NOT NULL, ALTER headers SET NOT NULL",
                "ALTER TABLE rowlock_job ALTER subject SET DEFAULT 'x'",
                "INSERT INTO rowlock_job (kind, payload) VALUES ('a', '{}'); ALTER TABLE rowlock_job ALTER id DROP IDENTITY",
                "ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_lease, DROP CONSTRAINT rowlock_job_bounds",
                "ALTER TABLE rowlock_queue DROP CONSTRAINT rowlock_queue_limits",
                "DO $$ BEGIN EXECUTE 'DROP FUNCTION ' || 'rowlock_enqueue'::regproc; END $$",
                "DO $$ BEGIN EXECUTE 'DROP FUNCTION ' || 'rowlock_enqueue'::regproc; END $$;"
                        + " CREATE FUNCTION rowlock_enqueue(kind text, payload json) RETURNS text LANGUAGE sql AS 'SELECT kind'")) {
            all.add(sql(Symptom.TABLES_DIFFER, change));
        }
        for (String change : List.of(
                "DROP INDEX rowlock_job_due",
                "DROP INDEX rowlock_job_once",
                "DROP INDEX rowlock_job_order",
                "DROP INDEX rowlock_job_failure_at",
                "DROP INDEX rowlock_job_due; CREATE INDEX rowlock_job_due ON rowlock_job (queue)",
                "ALTER TABLE rowlock_job DROP CONSTRAINT rowlock_job_pk",
                "ALTER TABLE rowlock_key DROP CONSTRAINT rowlock_key_pk, ADD CONSTRAINT rowlock_key_pk PRIMARY KEY (ordering_key)",
                "ALTER TABLE rowlock_alert DROP CONSTRAINT rowlock_alert_once",
                "ALTER TABLE rowlock_alert DROP CONSTRAINT rowlock_alert_once, ADD CONSTRAINT rowlock_alert_once UNIQUE (cause)")) {
            all.add(sql(Symptom.INDEX_MISSING, change));
        }
        all.add(sql(
                Symptom.INDEX_INVALID,
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rowlock_job_due'::regclass"));
        for (String table : List.of("job", "job_failure", "alert", "queue", "saga_step", "operation", "schema")) {
            all.add(sql(Symptom.TABLES_MISSING, "DROP TABLE rowlock_" + table + " CASCADE"));
        }
        all.add(sql(Symptom.TABLES_MISSING, "DELETE FROM rowlock_schema"));
        all.add(sql(Symptom.TABLES_MISSING, "DELETE FROM rowlock_schema WHERE version = 1"));
    }

    private static void tables(List<Fault> all) {
        all.add(sql(Symptom.AUTOVACUUM_OFF_FOR_TABLE, "ALTER TABLE rowlock_job SET (autovacuum_enabled = false)"));
        all.add(sql(Symptom.TABLE_OPTION, "ALTER TABLE rowlock_job SET (fillfactor = 100)"));
        all.add(sql(Symptom.TABLE_OPTION, "ALTER TABLE rowlock_key RESET (autovacuum_vacuum_scale_factor)"));
        all.add(sql(Symptom.TABLE_UNLOGGED, "ALTER TABLE rowlock_job SET UNLOGGED"));
        all.add(sql(Symptom.ROW_SECURITY, "ALTER TABLE rowlock_job ENABLE ROW LEVEL SECURITY"));
        all.add(sql(Symptom.FOREIGN_RULE, "CREATE RULE theirs AS ON DELETE TO rowlock_job DO ALSO NOTIFY gone"));
        all.add(sql(
                Symptom.FOREIGN_TRIGGER,
                "CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
                        + "CREATE TRIGGER theirs BEFORE INSERT ON rowlock_job FOR EACH ROW EXECUTE FUNCTION theirs()"));
        all.add(published("without a key", "rowlock_job_failure", ""));
        all.add(published(
                "with a key, and none said", "rowlock_job", "ALTER TABLE rowlock_job REPLICA IDENTITY NOTHING"));
        String rows = "ALTER TABLE rowlock_job SET (autovacuum_enabled = false);"
                + "INSERT INTO rowlock_job (kind, payload, subject)"
                + " SELECT 'mail', '{}', repeat('x', 190) || n FROM generate_series(1, 2000) n;"
                + "DELETE FROM rowlock_job";
        all.add(new Fault(Symptom.DEAD_ROWS, "deleted ones", f -> f.strictly(rows)));
        all.add(new Fault(Symptom.TABLE_BLOAT, "room that they leave", f -> f.strictly(rows)));
        all.add(new Fault(Symptom.INDEX_BLOAT, "room that they leave", f -> {
            Sick sick = f.strictly(rows);
            f.checked.schema.execute("VACUUM (TRUNCATE false) rowlock_job");
            return sick;
        }));
    }

    private static Fault published(String how, String table, String before) {
        return new Fault(Symptom.REPLICA_IDENTITY, how, f -> {
            if (!before.isEmpty()) {
                f.checked.schema.execute(before);
            }
            f.checked.schema.execute("CREATE PUBLICATION theirs FOR TABLE " + table);
            f.undo.push(() -> f.checked.schema.execute("DROP PUBLICATION theirs"));
            return f.plain();
        });
    }

    private static void horizons(List<Fault> all) {
        all.add(new Fault(Symptom.OLD_TRANSACTION, "a report", f -> {
            Connection report = f.checked.schema.begin();
            f.undo.push(report);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            report.createStatement().execute("SELECT count(*) FROM rowlock_job");
            return f.strict();
        }));
        all.add(new Fault(Symptom.PREPARED_TRANSACTION, "a forgotten one", f -> {
            try (Connection forgotten = f.checked.schema.begin();
                    var statement = forgotten.createStatement()) {
                statement.execute("INSERT INTO rowlock_queue (queue) VALUES ('mail')");
                statement.execute("PREPARE TRANSACTION 'forgotten'");
            }
            return f.strict();
        }));
        all.add(new Fault(
                Symptom.SLOT_INACTIVE,
                "a lonely one",
                f -> f.strictly("SELECT pg_create_physical_replication_slot('lonely')")));
        all.add(new Fault(Symptom.SLOT_HOLDS_BACK, "a standby with a report", f -> {
            OwnPostgres standby = f.feedback();
            return new Sick(f.checked::strictly, standby::connect);
        }));
        all.add(new Fault(Symptom.SLOT_HOLDS_BACK, "a standby that is gone", f -> {
            f.feedback().stop();
            soon().until(() -> f.checked.schema.count("SELECT count(*) FROM pg_replication_slots WHERE active") == 0);
            return f.strict();
        }));
    }

    private static void rights(List<Fault> all) {
        all.add(new Fault(
                Symptom.RIGHT_MISSING,
                "of a table and a sequence",
                f -> f.asWorker(
                        "REVOKE DELETE, INSERT ON rowlock_job FROM %1$s",
                        "REVOKE USAGE ON SEQUENCE rowlock_job_id_seq FROM %1$s")));
        all.add(new Fault(Symptom.NOT_CHECKED, "hidden from the role", f -> f.asWorker()));
    }

    private static Fault sql(Symptom symptom, String change) {
        return new Fault(symptom, change, f -> {
            f.checked.schema.execute(change);
            return f.plain();
        });
    }

    Sick plain() {
        return new Sick(checked::findings, this::psql);
    }

    Sick strict() {
        return new Sick(checked::strictly, this::psql);
    }

    private Sick strictly(String change) throws SQLException {
        checked.schema.execute(change);
        return strict();
    }

    /** As an owner types, into a session of the database. */
    private Connection psql() throws SQLException {
        return server.connect();
    }

    /** A standby whose snapshots are felt here. */
    OwnPostgres feedback() throws Exception {
        OwnPostgres standby = server.standby();
        undo.push(() -> {
            standby.close();
            soon().until(() -> checked.schema.count("SELECT count(*) FROM pg_replication_slots WHERE active") == 0);
            checked.schema.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots");
        });
        try (Connection there = standby.connect();
                var statement = there.createStatement()) {
            statement.execute("ALTER SYSTEM SET hot_standby_feedback = on");
            statement.execute("ALTER SYSTEM SET wal_receiver_status_interval = '1s'");
            statement.execute("SELECT pg_reload_conf()");
        }
        soon().until(() -> {
            checked.schema.execute("SELECT pg_current_xact_id()");
            return checked.schema.count("SELECT count(*) FROM pg_replication_slots WHERE age(xmin) >= 1 AND active")
                    == 1;
        });
        return standby;
    }

    private Sick asRole(String change) throws SQLException {
        String role = role("SUPERUSER");
        checked.schema.execute(String.format(change, role, database()));
        return new Sick(() -> checked.over(checked.as(role)::getConnection), this::psql);
    }

    private Sick asWorker(String... changes) throws SQLException {
        String role = role("");
        checked.schema.execute(Grants.of(checked.rowlock.schema(), role));
        for (String change : changes) {
            checked.schema.execute(String.format(change, role));
        }
        return new Sick(() -> checked.over(checked.as(role)::getConnection), () -> checked.schema.connect());
    }

    private String role(String more) throws SQLException {
        String role = "r_" + checked.schema.name();
        checked.schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret' " + more);
        undo.push(() -> checked.schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role));
        return role;
    }

    private String database() throws SQLException {
        return checked.schema
                .one(String.class, "SELECT quote_ident(current_database())")
                .orElseThrow();
    }

    /** What a role of its own meets. */
    private Sick byDatabase(String setting) throws SQLException {
        String name = setting.substring(0, setting.indexOf(' '));
        String role = role("SUPERUSER");
        String database = database();
        checked.schema.execute("ALTER DATABASE " + database + " SET " + setting);
        undo.push(() -> {
            try (Connection open = server.connect();
                    var statement = open.createStatement()) {
                statement.execute("SET default_transaction_read_only = off");
                statement.execute("ALTER DATABASE " + database + " RESET " + name);
            }
        });
        return new Sick(() -> checked.over(checked.as(role)::getConnection), this::psql);
    }

    private Sick byServer(String name, String sick, String well) throws Exception {
        String role = role("SUPERUSER");
        undo.push(() -> setting(name, well));
        setting(name, sick);
        return new Sick(() -> checked.over(checked.as(role)::getConnection), this::psql);
    }

    private void setting(String name, String value) throws Exception {
        try (Connection connection = server.connect();
                var statement = connection.createStatement()) {
            statement.execute("SET default_transaction_read_only = off");
            statement.execute("ALTER SYSTEM SET " + name + " = '" + value + "'");
            statement.execute("SELECT pg_reload_conf()");
        }
        soon().until(() -> {
            try (Connection connection = server.connect();
                    var statement = connection.createStatement();
                    var row = statement.executeQuery("SELECT current_setting('" + name + "')")) {
                return row.next() && row.getString(1).equals(value);
            }
        });
    }

    /** Leaves the server as it was. */
    void undo() throws Exception {
        while (!undo.isEmpty()) {
            undo.pop().close();
        }
    }
}
