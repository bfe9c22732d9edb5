package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Whom alerts are told, and which are still to be. */
public final class TellSql {
    /* Locks: the sinks' rows in the order of their names, about once an hour. */
    static final String REGISTER = """
            /* rowlock:register-alert-sinks */
            INSERT INTO rowlock_alert_sink (name)
            SELECT s.name FROM unnest($1::text[]) AS s(name) ORDER BY s.name
            ON CONFLICT (name) DO UPDATE SET seen_at = clock_timestamp()
            WHERE rowlock_alert_sink.seen_at < statement_timestamp() - interval '1 hour'
            """;

    /* No lock. Index: that of what is untold, which is empty nearly always; the order has it taken without statistics too. */
    static final String WAITING = """
            /* rowlock:untold-alerts */
            SELECT id
            FROM rowlock_alert
            WHERE untold
            ORDER BY bucket, id
            LIMIT 1
            """;

    /*
     * In the transaction that writes the jobs. One process at a time, and the next one as soon as that has committed or died.
     * Locks: the rows of at most $2 alerts, for that short transaction: a raise skips them, and would make a second row.
     * Locked ones are left for the next time. Index: that of what is untold, then the primary key. Not told: what a person has
     * taken over, what is a day old (then nobody was there to be told), what is about telling, or there would be no end of it,
     * and what stands beside another open row of its hour, made while that was locked.
     */
    static final String TELL = """
            /* rowlock:tell-alerts */
            WITH mine AS MATERIALIZED (
              SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7243389018)) AS ok),
            next AS MATERIALIZED (
              SELECT id
              FROM rowlock_alert
              WHERE untold AND (SELECT ok FROM mine)
              ORDER BY bucket, id
              LIMIT $2
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_alert
            SET untold = false, tell_at = power(10::numeric, length(n::text))::bigint
            WHERE id = ANY(ARRAY(SELECT id FROM next))
            RETURNING id, acknowledged_at IS NULL AND last_at > statement_timestamp() - interval '1 day'
                          AND kind NOT LIKE 'rowlock-alert:%'
                          AND NOT EXISTS (SELECT 1 FROM rowlock_alert other
                                          WHERE other.cause = rowlock_alert.cause AND other.kind = rowlock_alert.kind
                                            AND other.bucket >= date_trunc('hour', rowlock_alert.bucket, 'UTC')
                                            AND other.bucket < rowlock_alert.bucket AND other.acknowledged_at IS NULL) AS news
            """;

    /* No lock. A table of a few rows. */
    static final String SINKS = """
            /* rowlock:alert-sinks */
            SELECT name
            FROM rowlock_alert_sink
            WHERE seen_at > statement_timestamp() - interval '1 day'
            ORDER BY name
            LIMIT 100
            """;

    private final Sql register;
    private final Sql waiting;
    private final Sql tell;
    private final Sql sinks;
    private final String lockName;

    public TellSql(Names names) {
        this.register = new Sql(names, REGISTER);
        this.waiting = new Sql(names, WAITING);
        this.tell = new Sql(names, TELL);
        this.sinks = new Sql(names, SINKS);
        this.lockName = names.schema() + '.' + names.prefix();
    }

    /** Alerts that are marked as told: how many, and which of them are news. */
    public record Marked(int all, List<Long> news) {}

    public void register(Connection connection, List<String> names) throws SQLException {
        register.update(connection, Sql.texts(names));
    }

    public boolean waiting(Connection connection) throws SQLException {
        return !waiting.query(connection, row -> true).isEmpty();
    }

    public Marked tell(Connection connection, int most) throws SQLException {
        record Row(long id, boolean news) {}
        List<Row> rows =
                tell.query(connection, row -> new Row(row.getLong("id"), row.getBoolean("news")), lockName, most);
        return new Marked(
                rows.size(),
                rows.stream().filter(Row::news).map(Row::id).sorted().toList());
    }

    public List<String> sinks(Connection connection) throws SQLException {
        return sinks.query(connection, row -> row.getString("name"));
    }
}
