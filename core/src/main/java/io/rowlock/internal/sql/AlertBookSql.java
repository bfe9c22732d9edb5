package io.rowlock.internal.sql;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertFilter;
import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Alerts as people read and acknowledge them. */
public final class AlertBookSql {
    /* No lock. Index: the primary key. */
    static final String FIND = """
            /* rowlock:find-alert */
            SELECT id, cause, kind, n, reason, job_id, first_at, last_at, acknowledged_at, acknowledged_by, acknowledged_why
            FROM rowlock_alert
            WHERE id = $1
            """;

    /* No lock. Index: that of open alerts, backwards. Rows: $6; what the filter keeps out is read too. */
    static final String OPEN = """
            /* rowlock:open-alerts */
            SELECT id, cause, kind, n, reason, job_id, first_at, last_at, acknowledged_at, acknowledged_by, acknowledged_why
            FROM rowlock_alert
            WHERE acknowledged_at IS NULL AND id < coalesce($1::bigint, 9223372036854775807)
              AND ($2::text IS NULL OR cause = $2::text) AND ($3::text[] IS NULL OR kind = ANY($3::text[]))
              AND ($4::timestamptz IS NULL OR last_at >= $4::timestamptz)
              AND ($5::timestamptz IS NULL OR last_at < $5::timestamptz)
            ORDER BY id DESC
            LIMIT $6
            """;

    /* As OPEN, over the primary key, backwards: most alerts are acknowledged, and an open one costs a row. */
    static final String ACKNOWLEDGED = OPEN.replace("open-alerts", "acknowledged-alerts")
            .replace("acknowledged_at IS NULL", "acknowledged_at IS NOT NULL");

    /*
     * Its own transaction, with the row that keeps who did it. Locks: the open rows, in the order of their ids; waits for a
     * worker that counts one up. What is raised after that does not see them as open. Nobody is told of them any more.
     * Index: the primary key. Rows: those given.
     */
    static final String ACKNOWLEDGE = """
            /* rowlock:acknowledge-alerts */
            WITH open AS MATERIALIZED (
              SELECT id
              FROM rowlock_alert
              WHERE id = ANY($1::bigint[]) AND acknowledged_at IS NULL
              ORDER BY id
              FOR NO KEY UPDATE),
            closed AS (
              UPDATE rowlock_alert
              SET acknowledged_at = clock_timestamp(), acknowledged_by = $2, acknowledged_why = $3, untold = false
              WHERE id = ANY(ARRAY(SELECT id FROM open))
              RETURNING id)
            INSERT INTO rowlock_operation (who, why, what, alert)
            SELECT $2, $3, 'acknowledge', id FROM closed ORDER BY id
            """;

    private final Function<String, List<String>> names;
    private final Sql find;
    private final Sql open;
    private final Sql acknowledged;
    private final Sql acknowledge;

    /** @param kinds the names under which a kind may stand */
    public AlertBookSql(Names names, Function<String, List<String>> kinds) {
        this.names = kinds;
        this.find = new Sql(names, FIND);
        this.open = new Sql(names, OPEN);
        this.acknowledged = new Sql(names, ACKNOWLEDGED);
        this.acknowledge = new Sql(names, ACKNOWLEDGE);
    }

    public Optional<Alert> find(Connection connection, long id) throws SQLException {
        return find.query(connection, AlertBookSql::alert, id).stream().findFirst();
    }

    /** The newest first, of those with a lower id. */
    public List<Alert> open(Connection connection, AlertFilter filter, @Nullable Long below, int most)
            throws SQLException {
        return page(open, connection, filter, below, most);
    }

    /** The newest first, of those with a lower id. */
    public List<Alert> acknowledged(Connection connection, AlertFilter filter, @Nullable Long below, int most)
            throws SQLException {
        return page(acknowledged, connection, filter, below, most);
    }

    private List<Alert> page(Sql sql, Connection connection, AlertFilter filter, @Nullable Long below, int most)
            throws SQLException {
        String kind = filter.kind();
        return sql.query(
                connection,
                AlertBookSql::alert,
                below,
                filter.cause(),
                kind == null ? null : Sql.texts(names.apply(kind)),
                Sql.timestamp(filter.since()),
                Sql.timestamp(filter.before()),
                most);
    }

    /** How many of them were open. */
    public int acknowledge(Connection connection, List<Long> ids, By by) throws SQLException {
        return acknowledge.update(connection, Sql.bigints(ids), by.who(), by.why());
    }

    private static Alert alert(ResultSet row) throws SQLException {
        Long job = row.getObject("job_id", Long.class);
        String who = row.getString("acknowledged_by");
        return new Alert(
                row.getLong("id"),
                row.getString("cause"),
                row.getString("kind"),
                row.getLong("n"),
                row.getString("reason"),
                job == null || job == 0 ? null : job,
                new Alert.Span(Sql.requiredInstant(row, "first_at"), Sql.requiredInstant(row, "last_at")),
                who == null
                        ? null
                        : new Alert.Acknowledgement(
                                Sql.requiredInstant(row, "acknowledged_at"), who, row.getString("acknowledged_why")));
    }
}
