package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the catalogue and runs the numbered DDL. */
public final class SchemaSql {
    /* One lock for all schemas of the database: installing is rare, and the key must not depend on a hash. */
    static final String LOCK = "/* rowlock:schema-lock */ SELECT pg_advisory_xact_lock(7243389016)";

    static final String EXISTS = "/* rowlock:schema-exists */ SELECT to_regclass($1) IS NOT NULL";

    static final String VERSION = "/* rowlock:schema-version */ SELECT max(version) FROM rowlock_schema";

    static final String INSTALLATION =
            "/* rowlock:installation */ SELECT installation::text FROM rowlock_schema WHERE version = 1";

    static final String RECORD = "/* rowlock:schema-record */ INSERT INTO rowlock_schema (version) VALUES ($1)";

    /* What the tables are, as comparable lines. Index definitions lose their schema, so that any schema compares. */
    static final String CATALOGUE = """
            /* rowlock:schema-catalogue */
            SELECT 'column ' || substr(c.relname, length($1) + 1) || '.' || a.attname || ' '
                   || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
                   || CASE WHEN a.atthasdef THEN ' default' ELSE '' END
                   || CASE WHEN a.attidentity <> '' THEN ' identity' ELSE '' END
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.oid = ANY($2::regclass[]) AND a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            SELECT 'index ' || substr(i.relname, length($1) + 1) || ' '
                   || regexp_replace(pg_get_indexdef(i.oid), '^.* USING ', '')
                   || CASE WHEN x.indisunique THEN ' unique' ELSE '' END
                   || CASE WHEN x.indisvalid AND x.indisready THEN '' ELSE ' INVALID' END
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
            WHERE x.indrelid = ANY($2::regclass[])
            UNION ALL
            SELECT 'check ' || substr(k.conname, length($1) + 1)
            FROM pg_constraint k
            WHERE k.conrelid = ANY($2::regclass[]) AND k.contype = 'c'
            UNION ALL
            SELECT 'function ' || substr(p.proname, length($1) + 1) || '(' || pg_get_function_identity_arguments(p.oid) || ') '
                   || pg_get_function_result(p.oid)
            FROM pg_proc p
            WHERE p.proname = $1 || 'enqueue'
              AND p.pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = ($2::regclass[])[1])
            ORDER BY 1
            """;

    /*
     * One running server and one of its databases. The start time tells servers apart that are file copies of each
     * other and so share their system identifier, and needs no rights.
     */
    static final String DATABASE = """
            /* rowlock:unit-probe */
            SELECT current_database() || ' (oid ' || oid || ', server started ' || pg_postmaster_start_time() || ')'
            FROM pg_database WHERE datname = current_database()
            """;

    private final Names names;

    public SchemaSql(Names names) {
        this.names = names;
    }

    public void lock(Connection connection) throws SQLException {
        new Sql(names, LOCK).query(connection, row -> true);
    }

    /** Which database of which running server this is, in words that differ for any other. */
    public String database(Connection connection) throws SQLException {
        return new Sql(names, DATABASE)
                .query(connection, row -> row.getString(1))
                .get(0);
    }

    /** The version installed, 0 for none. */
    public int version(Connection connection) throws SQLException {
        boolean exists = new Sql(names, EXISTS)
                .query(connection, row -> row.getBoolean(1), names.table("schema"))
                .get(0);
        return exists
                ? new Sql(names, VERSION)
                        .query(connection, row -> row.getInt(1))
                        .get(0)
                : 0;
    }

    /** The installation's name, the first part of idempotency keys; null if its row is gone. */
    public @Nullable String installation(Connection connection) throws SQLException {
        List<String> found = new Sql(names, INSTALLATION).query(connection, row -> row.getString(1));
        return found.isEmpty() ? null : found.get(0);
    }

    public void apply(Connection connection, int version, String ddl) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(names.apply(ddl));
        }
        new Sql(names, RECORD).update(connection, version);
    }

    /** What a script says instead of {@link #apply}'s last step. */
    public String recordByHand(int version) {
        return names.apply("\nINSERT INTO rowlock_schema (version) VALUES (" + version + ");\n");
    }

    public void createSchema(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA IF NOT EXISTS \"" + names.schema() + "\"");
        }
    }

    /** Whether the schema is there; asked first, as CREATE SCHEMA needs a right even where it would do nothing. */
    public boolean schemaExists(Connection connection) throws SQLException {
        return new Sql(names, "/* rowlock:schema-there */ SELECT to_regnamespace($1) IS NOT NULL")
                .query(connection, row -> row.getBoolean(1), '"' + names.schema() + '"')
                .get(0);
    }

    /** The catalogue's lines for the given tables, which must exist. */
    public List<String> catalogue(Connection connection, List<String> tables) throws SQLException {
        Object relations = Sql.texts(tables.stream().map(names::table).toList());
        return new Sql(names, CATALOGUE).query(connection, row -> row.getString(1), names.prefix(), relations);
    }

    public boolean tableExists(Connection connection, String table) throws SQLException {
        return new Sql(names, EXISTS)
                .query(connection, row -> row.getBoolean(1), names.table(table))
                .get(0);
    }
}
