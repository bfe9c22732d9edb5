package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a checkup reads of the server and its sessions. Catalogue and statistics only; no locks but those of a catalogue
 * read. Rows: each statement has a limit, or as many as the server has settings.
 */
public final class CheckupSql {
    /* Bounds of the transaction that it begins, which reads only. Reads no table. */
    private static final String BEGIN = """
            /* rowlock:checkup-begin */
            SELECT set_config('statement_timeout', ?, true), set_config('lock_timeout', ?, true),
                   set_config('transaction_read_only', 'on', true)
            """;

    static final String CLOCK = "/* rowlock:checkup-clock */ SELECT clock_timestamp() AS at";

    /* reset_val: as the session began, without the bounds of this transaction. Times in their unit, which is ms here. */
    static final String SETTINGS = """
            /* rowlock:checkup-settings */
            SELECT name, CASE WHEN name LIKE '%\\_timeout' OR name = 'default_transaction_read_only' THEN reset_val ELSE setting END AS value
            FROM pg_settings
            WHERE name = ANY($1::text[])
            """;

    /* The value that the session began with, and with it who set it: limits of this transaction hide both. */
    static final String AS_BEGUN = "/* rowlock:checkup-as-begun */ SELECT set_config($1, NULL, true)";

    static final String SOURCE = """
            /* rowlock:checkup-source */
            SELECT source, quote_ident(session_user) AS role, quote_ident(current_database()) AS database
            FROM pg_settings
            WHERE name = $1
            """;

    /* Of server, role and database the one that has the fewest connections left; how to raise it to $1 or twice as many. */
    static final String CONNECTIONS = """
            /* rowlock:checkup-connections */
            SELECT used, most, raise || greatest(2 * most, $1::int) || ';' || coalesce(after, '') AS cure
            FROM (SELECT (SELECT sum(numbackends) FROM pg_stat_database) AS used,
                         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
                         'ALTER SYSTEM SET max_connections = ' AS raise, ' -- then restart the server' AS after
                  UNION ALL
                  SELECT (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user), rolconnlimit,
                         'ALTER ROLE ' || quote_ident(rolname) || ' CONNECTION LIMIT ', NULL
                  FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0
                  UNION ALL
                  SELECT s.numbackends, d.datconnlimit,
                         'ALTER DATABASE ' || quote_ident(d.datname) || ' CONNECTION LIMIT ', NULL
                  FROM pg_database d JOIN pg_stat_database s ON s.datid = d.oid
                  WHERE d.datname = current_database() AND d.datconnlimit >= 0) AS each
            ORDER BY most - used
            LIMIT 1
            """;

    /* Rows: one. A standby in use shows itself to every role as a row, its state only to some. Change data capture is none. */
    static final String STANDBYS = """
            /* rowlock:checkup-standbys */
            SELECT count(*) AS standbys
            FROM pg_stat_replication
            WHERE application_name NOT LIKE 'pg\\_basebackup%'
              AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = pid AND s.slot_type = 'logical')
            """;

    /* Transactions that are open for longer than $1 microseconds or, where their age is hidden, $2 ids. Limit: 10. */
    static final String OLD_TRANSACTIONS = """
            /* rowlock:checkup-old-transactions */
            SELECT 'Backend ' || pid || coalesce(' of ' || usename, '') || coalesce(' (' || nullif(application_name, '') || ')', '')
                   || CASE WHEN xact_start IS NULL THEN ' has had a snapshot for ' || age(backend_xmin) || ' transactions'
                           ELSE ' has had a transaction open since ' || date_trunc('second', xact_start) END
                   || coalesce(', state ' || state, '') AS seen,
                   'SELECT pg_terminate_backend(' || pid || '); -- ends it; find out first what it is' AS cure
            FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
              AND coalesce(backend_type, '') NOT IN ('autovacuum worker', 'parallel worker')
              AND (xact_start <= statement_timestamp() - $1::bigint * interval '1 microsecond'
                   OR xact_start IS NULL AND age(backend_xmin) >= $2::bigint)
            ORDER BY xact_start NULLS LAST, pid
            LIMIT 10
            """;

    static final String PREPARED = """
            /* rowlock:checkup-prepared */
            SELECT 'Transaction ' || quote_literal(gid) || ' of ' || owner || ' in ' || database || ' is prepared since '
                   || date_trunc('second', prepared) AS seen,
                   'ROLLBACK PREPARED ' || quote_literal(gid) || '; -- or COMMIT PREPARED, and in database ' || quote_ident(database) AS cure
            FROM pg_prepared_xacts
            WHERE prepared <= statement_timestamp() - $1::bigint * interval '1 microsecond'
            ORDER BY prepared
            LIMIT 10
            """;

    /* A slot that is read cannot be dropped. */
    static final String SLOTS_BACK = """
            /* rowlock:checkup-slots */
            SELECT 'Replication slot ' || slot_name || ' holds a snapshot that is ' || age(xmin) || ' transactions old' AS seen,
                   CASE WHEN active
                        THEN 'ALTER SYSTEM SET hot_standby_feedback = off; SELECT pg_reload_conf(); -- on its standby, or end there what'
                             || ' has been running for so long'
                        ELSE 'SELECT pg_drop_replication_slot(' || quote_literal(slot_name) || '); -- unless its reader comes back'
                   END AS cure
            FROM pg_replication_slots
            WHERE xmin IS NOT NULL AND age(xmin) >= $1::bigint
            ORDER BY age(xmin) DESC
            LIMIT 10
            """;

    static final String SLOTS_INACTIVE = """
            /* rowlock:checkup-inactive-slots */
            SELECT 'Replication slot ' || slot_name || ' has no reader' AS seen,
                   'SELECT pg_drop_replication_slot(' || quote_literal(slot_name) || '); -- unless its reader comes back' AS cure
            FROM pg_replication_slots
            WHERE NOT active
            ORDER BY slot_name
            LIMIT 10
            """;

    static final String SEES_OTHERS = """
            /* rowlock:checkup-sees-others */
            SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees, quote_ident(current_user) AS role
            """;

    private final Names names;

    public CheckupSql(Names names) {
        this.names = names;
    }

    /** What was seen, and the SQL that puts it right. */
    public record Sight(String seen, String cure) {}

    /** How many connections are in use, how many may be, and the SQL that allows more. */
    public record Connections(long used, long most, String cure) {}

    /** Who set a setting as it was when the session began, in the server's words; role and database as identifiers. */
    public record Source(String level, String role, String database) {}

    /** Whether this role sees the sessions of others, and its name as an identifier. */
    public record Role(boolean seesOthers, String name) {}

    /** The first statement of a transaction. */
    public static void begin(Connection connection, int statementMillis, int lockMillis) throws SQLException {
        try (var statement = connection.prepareStatement(BEGIN)) {
            statement.setString(1, statementMillis + "ms");
            statement.setString(2, lockMillis + "ms");
            statement.execute();
        }
    }

    public Instant clock(Connection connection) throws SQLException {
        return new Sql(names, CLOCK)
                .query(connection, row -> Sql.requiredInstant(row, "at"))
                .get(0);
    }

    /** Settings by name; those that the server does not know are left out. */
    public Map<String, String> settings(Connection connection, List<String> wanted) throws SQLException {
        Map<String, String> settings = new HashMap<>();
        new Sql(names, SETTINGS)
                .query(
                        connection,
                        row -> settings.put(row.getString("name"), row.getString("value")),
                        Sql.texts(wanted));
        return settings;
    }

    /** Where they are fewest; what cures it allows at least so many. */
    public Connections connections(Connection connection, int wanted) throws SQLException {
        return new Sql(names, CONNECTIONS)
                .query(
                        connection,
                        row -> new Connections(row.getLong("used"), row.getLong("most"), row.getString("cure")),
                        wanted)
                .get(0);
    }

    /** Takes the limit of this transaction off, if the setting is one. */
    public Source source(Connection connection, String setting) throws SQLException {
        new Sql(names, AS_BEGUN).query(connection, row -> true, setting);
        return new Sql(names, SOURCE)
                .query(
                        connection,
                        row -> new Source(row.getString("source"), row.getString("role"), row.getString("database")),
                        setting)
                .get(0);
    }

    public long standbys(Connection connection) throws SQLException {
        return new Sql(names, STANDBYS)
                .query(connection, row -> row.getLong("standbys"))
                .get(0);
    }

    public Role role(Connection connection) throws SQLException {
        return new Sql(names, SEES_OTHERS)
                .query(connection, row -> new Role(row.getBoolean("sees"), row.getString("role")))
                .get(0);
    }

    public List<Sight> oldTransactions(Connection connection, Duration openFor, long ids) throws SQLException {
        return sights(connection, OLD_TRANSACTIONS, Sql.micros(openFor), ids);
    }

    public List<Sight> prepared(Connection connection, Duration openFor) throws SQLException {
        return sights(connection, PREPARED, Sql.micros(openFor));
    }

    public List<Sight> slotsThatHoldBack(Connection connection, long ids) throws SQLException {
        return sights(connection, SLOTS_BACK, ids);
    }

    public List<Sight> inactiveSlots(Connection connection) throws SQLException {
        return sights(connection, SLOTS_INACTIVE);
    }

    /** What stands in a table's catalogue, see {@link CheckedTablesSql}. */
    public CheckedTablesSql tables() {
        return new CheckedTablesSql(names);
    }

    private List<Sight> sights(Connection connection, String statement, @Nullable Object... params)
            throws SQLException {
        return new Sql(names, statement)
                .query(connection, row -> new Sight(row.getString("seen"), row.getString("cure")), params);
    }
}
