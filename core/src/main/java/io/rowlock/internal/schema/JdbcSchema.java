package io.rowlock.internal.schema;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SchemaSql;
import io.rowlock.schema.Schema;
import io.rowlock.spi.ConnectionSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tables, by the numbered resources beside {@link Schema}. */
public final class JdbcSchema implements Schema {
    private static final Logger LOG = LoggerFactory.getLogger(JdbcSchema.class);
    private static final int VERSION = 13;
    /** The tables' names without their prefix. */
    public static final List<String> TABLES = List.of(
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

    /** What a problem begins with where a column, index, check or function is not as a line of the catalogue says. */
    public static final String DIFFERENT = "missing or different: ";

    private static final List<String> NAMELESS = List.of("the row of version 1 is missing in the table of versions: it"
            + " holds the installation's name, with which every idempotency key begins; put it back from a backup, or the"
            + " outside world takes a repeated job for another one");

    private final ConnectionSource connections;
    private final Names names;
    private final SchemaSql sql;

    public JdbcSchema(ConnectionSource connections, Names names) {
        this.connections = connections;
        this.names = names;
        this.sql = new SchemaSql(names);
    }

    @Override
    public int version() {
        return VERSION;
    }

    @Override
    public void install() {
        try (Connection connection = connections.get()) {
            boolean autoCommit = connection.getAutoCommit();
            int isolation = connection.getTransactionIsolation();
            // else the version would be read as it was before the lock was waited for
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            try {
                install(connection);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                rollBack(connection, e);
                throw e;
            } finally {
                putBack(connection, autoCommit, isolation);
            }
        } catch (SQLException e) {
            throw new DatabaseException(
                    "Rowlock's tables could not be installed in schema " + names.schema()
                            + "; nothing was changed. Without the right to create, let the owner run schema().script("
                            + found() + ")",
                    e);
        }
    }

    /** The version that is there, or 0 where that cannot be told. */
    private int found() {
        try (Connection connection = connections.get()) {
            return sql.version(connection);
        } catch (SQLException | RuntimeException e) {
            LOG.debug("The version of the tables could not be read", e);
            return 0;
        }
    }

    private static void rollBack(Connection connection, Exception because) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    /** Not worth an exception: what was installed is installed, and what failed has its own. */
    private static void putBack(Connection connection, boolean autoCommit, int isolation) {
        try {
            connection.setAutoCommit(autoCommit);
            connection.setTransactionIsolation(isolation);
        } catch (SQLException e) {
            LOG.debug("A connection could not be put back as it was", e);
        }
    }

    private void install(Connection connection) throws SQLException {
        sql.lock(connection);
        if (!sql.schemaExists(connection)) {
            sql.createSchema(connection);
        }
        for (int next = sql.version(connection) + 1; next <= VERSION; next++) {
            sql.apply(connection, next, numbered(next));
        }
    }

    @Override
    public void validate() {
        try (Connection connection = connections.get()) {
            validate(connection);
        } catch (SQLException e) {
            throw new DatabaseException("Rowlock's tables in schema " + names.schema() + " could not be checked", e);
        }
    }

    /** The same over a given connection. */
    public void validate(Connection connection) throws SQLException {
        List<String> problems = new ArrayList<>();
        int installed = sql.version(connection);
        if (installed < VERSION) {
            problems.add(
                    installed == 0 && !sql.schemaExists(connection)
                            ? "schema " + names.schema() + " is missing"
                            : installed == 0
                                    ? "table " + names.table("schema") + " is missing or empty"
                                    : "they have version " + installed + ", this Rowlock needs " + VERSION);
        } else if (installed > VERSION + 1) {
            problems.add("they have version " + installed + ", this Rowlock knows versions up to " + (VERSION + 1));
        } else {
            compare(connection, problems);
        }
        if (!problems.isEmpty()) {
            throw new SchemaException(
                    "Rowlock's tables in schema " + names.schema() + " are not what version " + VERSION + " needs; "
                            + advice(installed),
                    problems);
        }
    }

    private static String advice(int installed) {
        if (installed < VERSION) {
            return "call schema().install(), or run schema().script(" + installed + ")";
        }
        return installed > VERSION + 1
                ? "use a newer Rowlock"
                : "put back what was changed; schema().script(0) shows how it was made";
    }

    /** The installation's name, the first part of idempotency keys. */
    public String installation(Connection connection) throws SQLException {
        String installation = sql.installation(connection);
        if (installation == null) {
            throw new SchemaException("Rowlock's tables in schema " + names.schema() + " are not complete", NAMELESS);
        }
        return installation;
    }

    /** What the tables that are there are, as lines of the catalogue. */
    public List<String> found(Connection connection) throws SQLException {
        List<String> present = new ArrayList<>();
        for (String table : TABLES) {
            if (sql.tableExists(connection, table)) {
                present.add(table);
            }
        }
        return sql.catalogue(connection, present);
    }

    /** How the scripts of this version make each part of the tables. */
    public Blueprint blueprint() {
        return new Blueprint(
                names,
                IntStream.rangeClosed(1, VERSION).mapToObj(JdbcSchema::numbered).toList());
    }

    private void compare(Connection connection, List<String> problems) throws SQLException {
        List<String> present = new ArrayList<>();
        for (String table : TABLES) {
            if (sql.tableExists(connection, table)) {
                present.add(table);
            } else {
                problems.add("table " + names.table(table) + " is missing");
            }
        }
        List<String> found = sql.catalogue(connection, present);
        for (String line : resource("catalogue.txt").lines().toList()) {
            if (!found.contains(line)) {
                problems.add(DIFFERENT + line);
            }
        }
        if (problems.isEmpty() && sql.installation(connection) == null) {
            problems.addAll(NAMELESS);
        }
    }

    @Override
    public String script(int fromVersion) {
        if (fromVersion < 0 || fromVersion > VERSION) {
            throw new InvalidUseException("fromVersion must be between 0 and " + VERSION + ", got " + fromVersion);
        }
        StringBuilder script = new StringBuilder(fromVersion < VERSION ? bySchema("head.sql") : "");
        for (int next = fromVersion + 1; next <= VERSION; next++) {
            script.append(names.apply(numbered(next))).append(sql.recordByHand(next));
        }
        if (fromVersion < VERSION) {
            script.append(bySchema("grants.sql"));
        }
        return script.toString();
    }

    private String bySchema(String resource) {
        return names.apply(resource(resource)).replace(":schema", '"' + names.schema() + '"');
    }

    private static String numbered(int version) {
        return resource(String.format(Locale.ROOT, "%03d.sql", version));
    }

    private static String resource(String name) {
        try (InputStream in = Schema.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("Resource " + name + " is missing from rowlock-core");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
