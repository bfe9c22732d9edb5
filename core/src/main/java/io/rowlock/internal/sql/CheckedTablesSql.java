package io.rowlock.internal.sql;

import io.rowlock.internal.sql.CheckupSql.Sight;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a checkup reads about Rowlock's tables in the catalogue and the statistics. $1: the schema, $2: the prefix, $3: the
 * tables' names without it. Names are compared as texts: a role without the right to use the schema reads the catalogue
 * too. No locks, but for sizes ACCESS SHARE on a table and its indexes. Rows: a few for each table.
 */
public final class CheckedTablesSql {
    private static final String OURS = """
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname = ANY(SELECT $2 || t FROM unnest($3::text[]) AS t)
            """;

    private static final String NAMED =
            "WITH ours AS (SELECT c.*, quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS named ";

    static final String INVALID_INDEXES = "/* rowlock:checkup-invalid-indexes */ " + NAMED + OURS + """
            )
            SELECT i.relname AS index, 'Index ' || i.relname || ' of ' || ours.named || ' is not '
                   || CASE WHEN x.indisready THEN 'valid' ELSE 'ready' END AS seen,
                   CASE WHEN i.relname ~ '_cc(new|old)[0-9]*$' THEN 'DROP' ELSE 'REINDEX' END || ' INDEX CONCURRENTLY '
                   || quote_ident($1) || '.' || quote_ident(i.relname) || ';' AS cure
            FROM ours JOIN pg_index x ON x.indrelid = ours.oid JOIN pg_class i ON i.oid = x.indexrelid
            WHERE NOT (x.indisvalid AND x.indisready)
            ORDER BY i.relname
            LIMIT 100
            """;

    static final String INDEXES = "/* rowlock:checkup-indexes */ " + NAMED + OURS + """
            )
            SELECT i.relname FROM ours JOIN pg_index x ON x.indrelid = ours.oid JOIN pg_class i ON i.oid = x.indexrelid
            LIMIT 1000
            """;

    static final String UNLOGGED = "/* rowlock:checkup-unlogged */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' is UNLOGGED' AS seen, 'ALTER TABLE ' || named || ' SET LOGGED;' AS cure
            FROM ours WHERE relpersistence = 'u' ORDER BY relname
            """;

    static final String TRIGGERS = "/* rowlock:checkup-triggers */ " + NAMED + OURS + """
            )
            SELECT 'Trigger ' || quote_ident(t.tgname) || ' is on ' || named || ': ' || pg_get_triggerdef(t.oid) AS seen,
                   'DROP TRIGGER ' || quote_ident(t.tgname) || ' ON ' || named || '; -- unless it is wanted and cheap' AS cure
            FROM ours JOIN pg_trigger t ON t.tgrelid = ours.oid
            WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' ORDER BY 1 LIMIT 20
            """;

    static final String RULES = "/* rowlock:checkup-rules */ " + NAMED + OURS + """
            )
            SELECT 'Rule ' || quote_ident(r.rulename) || ' is on ' || named AS seen,
                   'DROP RULE ' || quote_ident(r.rulename) || ' ON ' || named || ';' AS cure
            FROM ours JOIN pg_rewrite r ON r.ev_class = ours.oid ORDER BY 1 LIMIT 20
            """;

    static final String ROW_SECURITY = "/* rowlock:checkup-row-security */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' has row-level security' AS seen,
                   'ALTER TABLE ' || named || ' DISABLE ROW LEVEL SECURITY;' AS cure
            FROM ours WHERE relrowsecurity ORDER BY relname
            """;

    /* A table without a primary key has no identity by default, and needs whole rows as one; with a key they would be waste. */
    static final String REPLICA_IDENTITY = "/* rowlock:checkup-replica-identity */ " + NAMED + OURS + """
            )
            SELECT DISTINCT 'Table ' || named || ' is published by ' || p.pubname || ' and has no replica identity' AS seen,
                   'ALTER TABLE ' || named || ' REPLICA IDENTITY '
                   || CASE WHEN EXISTS (SELECT FROM pg_index x WHERE x.indrelid = ours.oid AND x.indisprimary)
                           THEN 'DEFAULT;' ELSE 'FULL;' END AS cure
            FROM ours JOIN pg_publication_tables pt ON pt.schemaname = $1 AND pt.tablename = ours.relname
            JOIN pg_publication p ON p.pubname = pt.pubname AND (p.pubupdate OR p.pubdelete)
            WHERE relreplident = 'n' OR relreplident = 'd'
              AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = ours.oid AND x.indisprimary)
            ORDER BY 1 LIMIT 20
            """;

    static final String AUTOVACUUM_OFF = "/* rowlock:checkup-autovacuum */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' has autovacuum_enabled=false' AS seen,
                   'ALTER TABLE ' || named || ' RESET (autovacuum_enabled);' AS cure
            FROM ours, pg_options_to_table(reloptions) o
            WHERE o.option_name = 'autovacuum_enabled' AND NOT o.option_value::boolean ORDER BY relname
            """;

    /* $4 to $6: which option of which table was made with which value. Less room or a later vacuum is a finding. */
    static final String OPTIONS = "/* rowlock:checkup-options */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' has ' || w.option || ' = ' || coalesce(o.option_value, 'the server''s default')
                   || ', and was made with ' || w.value AS seen,
                   'ALTER TABLE ' || named || ' SET (' || w.option || ' = ' || w.value || ');' AS cure
            FROM unnest($4::text[], $5::text[], $6::text[]) AS w(tab, option, value)
            JOIN ours ON ours.relname = $2 || w.tab
            LEFT JOIN LATERAL pg_options_to_table(ours.reloptions) o ON o.option_name = w.option
            WHERE coalesce(o.option_value::numeric > w.value::numeric, true)
            ORDER BY 1
            """;

    /* $4: fewer dead rows are none worth a word. */
    static final String DEAD_ROWS = "/* rowlock:checkup-dead-rows */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' has about ' || s.n_dead_tup || ' dead rows beside ' || s.n_live_tup
                   || ' live ones; its last autovacuum was ' || coalesce('at ' || date_trunc('second', s.last_autovacuum), 'never') AS seen,
                   'VACUUM (VERBOSE) ' || named || '; -- if they stay, an open transaction or a slot keeps them' AS cure
            FROM ours JOIN pg_stat_all_tables s ON s.relid = ours.oid
            WHERE s.n_dead_tup >= $4::bigint AND s.n_dead_tup > s.n_live_tup / 5
            ORDER BY s.n_dead_tup DESC
            """;

    /*
     * $4: a smaller table or index is none worth a word. A row has its header, its texts and a page share of 45 %: above
     * 16 KiB a row is room that held others, or is payload; payloads that are that large are stored beside the table.
     */
    static final String TABLE_BLOAT = "/* rowlock:checkup-table-bloat */ " + NAMED + OURS + """
            )
            SELECT 'Table ' || named || ' takes ' || pg_size_pretty(pg_relation_size(ours.oid)) || ' for about '
                   || coalesce(s.n_live_tup, 0) || ' rows' AS seen,
                   'VACUUM FULL ' || named || '; -- locks it: in a quiet minute' AS cure
            FROM ours LEFT JOIN pg_stat_all_tables s ON s.relid = ours.oid
            WHERE pg_relation_size(ours.oid) >= $4::bigint
              AND pg_relation_size(ours.oid) > 16384 * greatest(coalesce(s.n_live_tup, 0), 1)
            ORDER BY pg_relation_size(ours.oid) DESC
            """;

    /* An entry has up to three texts of 200 characters: above 2 KiB an entry most of the index is empty. */
    static final String INDEX_BLOAT = "/* rowlock:checkup-index-bloat */ " + NAMED + OURS + """
            )
            SELECT 'Index ' || i.relname || ' takes ' || pg_size_pretty(pg_relation_size(i.oid)) || ' for about '
                   || greatest(i.reltuples, 0)::bigint || ' entries' AS seen,
                   'REINDEX INDEX CONCURRENTLY ' || quote_ident($1) || '.' || quote_ident(i.relname) || ';' AS cure
            FROM ours JOIN pg_index x ON x.indrelid = ours.oid JOIN pg_class i ON i.oid = x.indexrelid
            WHERE pg_relation_size(i.oid) >= $4::bigint AND pg_relation_size(i.oid) > 2048 * greatest(i.reltuples, 1)
            ORDER BY pg_relation_size(i.oid) DESC
            """;

    /* What this role lacks: the schema, then tables, then the sequence of jobs. */
    static final String MISSING_RIGHTS = "/* rowlock:checkup-rights */ " + NAMED + OURS + """
            )
            SELECT 'Role ' || current_user || ' may not use schema ' || nspname AS seen,
                   'GRANT USAGE ON SCHEMA ' || quote_ident(nspname) || ' TO ' || quote_ident(current_user) || ';' AS cure
            FROM pg_namespace WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE')
            UNION ALL
            SELECT 'Role ' || current_user || ' lacks ' || string_agg(r, ', ' ORDER BY r) || ' on ' || named,
                   'GRANT ' || string_agg(r, ', ' ORDER BY r) || ' ON ' || named || ' TO ' || quote_ident(current_user) || ';'
            FROM ours, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r
            WHERE NOT has_table_privilege(ours.oid, r) AND (r = 'SELECT' OR ours.relname <> $2 || 'schema')
            GROUP BY named
            UNION ALL
            SELECT 'Role ' || current_user || ' may not draw from sequence ' || s.relname,
                   'GRANT USAGE ON SEQUENCE ' || quote_ident($1) || '.' || quote_ident(s.relname) || ' TO ' || quote_ident(current_user) || ';'
            FROM pg_class s JOIN pg_namespace n ON n.oid = s.relnamespace
            WHERE n.nspname = $1 AND s.relname IN ($2 || 'job_id_seq', $2 || 'lease_token_seq') AND NOT has_sequence_privilege(s.oid, 'USAGE')
            """;

    /* Whether this role is more than it needs to be. */
    static final String OWNER = "/* rowlock:checkup-owner */ " + NAMED + OURS + """
            )
            SELECT 'Role ' || current_user || CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
                   THEN ' is a superuser' ELSE ' owns the tables' END AS seen,
                   'Run workers as a role of their own, with the grants at the end of what rowlock schema script prints.' AS cure
            FROM ours WHERE relname = $2 || 'job' AND pg_has_role(current_user, relowner, 'USAGE')
            """;

    private final Names names;

    CheckedTablesSql(Names names) {
        this.names = names;
    }

    /** What an option of a table was made with. */
    public record Made(String table, String option, String value) {}

    /** An index that the server does not use or keep up. */
    public record InvalidIndex(String index, String seen, String cure) {}

    public List<InvalidIndex> invalidIndexes(Connection connection, List<String> tables) throws SQLException {
        return new Sql(names, INVALID_INDEXES)
                .query(
                        connection,
                        row -> new InvalidIndex(row.getString("index"), row.getString("seen"), row.getString("cure")),
                        names.schema(),
                        names.prefix(),
                        Sql.texts(tables));
    }

    /** The names of all indexes of the tables. */
    public List<String> indexes(Connection connection, List<String> tables) throws SQLException {
        return new Sql(names, INDEXES)
                .query(connection, row -> row.getString(1), names.schema(), names.prefix(), Sql.texts(tables));
    }

    public List<Sight> unlogged(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, UNLOGGED, tables);
    }

    public List<Sight> triggers(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, TRIGGERS, tables);
    }

    public List<Sight> rules(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, RULES, tables);
    }

    public List<Sight> rowSecurity(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, ROW_SECURITY, tables);
    }

    public List<Sight> withoutIdentity(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, REPLICA_IDENTITY, tables);
    }

    public List<Sight> withoutAutovacuum(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, AUTOVACUUM_OFF, tables);
    }

    public List<Sight> otherOptions(Connection connection, List<String> tables, List<Made> made) throws SQLException {
        return sights(
                connection,
                OPTIONS,
                tables,
                Sql.texts(Sql.column(made, Made::table)),
                Sql.texts(Sql.column(made, Made::option)),
                Sql.texts(Sql.column(made, Made::value)));
    }

    public List<Sight> deadRows(Connection connection, List<String> tables, long least) throws SQLException {
        return sights(connection, DEAD_ROWS, tables, least);
    }

    public List<Sight> tableBloat(Connection connection, List<String> tables, long leastBytes) throws SQLException {
        return sights(connection, TABLE_BLOAT, tables, leastBytes);
    }

    public List<Sight> indexBloat(Connection connection, List<String> tables, long leastBytes) throws SQLException {
        return sights(connection, INDEX_BLOAT, tables, leastBytes);
    }

    public List<Sight> missingRights(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, MISSING_RIGHTS, tables);
    }

    public List<Sight> tooManyRights(Connection connection, List<String> tables) throws SQLException {
        return sights(connection, OWNER, tables);
    }

    private List<Sight> sights(Connection connection, String statement, List<String> tables, @Nullable Object... more)
            throws SQLException {
        @Nullable Object[] params = new Object[3 + more.length];
        params[0] = names.schema();
        params[1] = names.prefix();
        params[2] = Sql.texts(tables);
        System.arraycopy(more, 0, params, 3, more.length);
        return new Sql(names, statement)
                .query(connection, row -> new Sight(row.getString("seen"), row.getString("cure")), params);
    }
}
