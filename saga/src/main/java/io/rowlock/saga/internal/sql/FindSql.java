package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.SagaCursor;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaView;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for sagas; no locks. Each search walks one index from its newest end, at most {@value #MOST_WALKED} rows of it, and
 * filters what it met: one that finds little gives a short page and says where it stopped, and does not walk on.
 */
public final class FindSql {
    static final int MOST_WALKED = 10_000;

    private static final String WALKED_COLUMNS = "SELECT id, name, status, step, business_key, subject, created_at";

    /* $1 and $2: before this place; $3: not before this time; $4: so many. */
    private static final String NEWEST_FIRST = """
            AND (created_at, id) < ($1::timestamptz, $2::text) AND created_at >= $3::timestamptz
            ORDER BY created_at DESC, id DESC
            LIMIT $4
            """;

    /* What the walk met that the filters let through; where that and the walk ended. Reads no table. */
    private static final String FILTERED = """
            ),
            found AS MATERIALIZED (
              SELECT id, created_at
              FROM walked
              WHERE ($5::text IS NULL OR name = $5) AND ($6::text IS NULL OR business_key = $6) AND ($7::text IS NULL OR subject = $7)
                AND ($8::text IS NULL OR step = $8) AND ($9::text[] IS NULL OR status = ANY($9::text[]))
              ORDER BY created_at DESC, id DESC
              LIMIT $10)
            SELECT ARRAY(SELECT id FROM found ORDER BY created_at DESC, id DESC) AS ids,
                   (SELECT created_at FROM found ORDER BY created_at, id LIMIT 1) AS found_at,
                   (SELECT count(*) FROM walked) AS n,
                   (SELECT created_at FROM walked ORDER BY created_at, id LIMIT 1) AS walked_at,
                   (SELECT id FROM walked ORDER BY created_at, id LIMIT 1) AS walked_id
            """;

    /* Index: rowlock_saga_business_key, in its order. */
    static final String BY_KEY = "/* rowlock:find-sagas-of-key */ WITH walked AS MATERIALIZED (" + WALKED_COLUMNS
            + " FROM rowlock_saga WHERE business_key = $6 " + NEWEST_FIRST + FILTERED;

    /* Index: rowlock_saga_subject. Rows read: all of the subject, which are sorted. */
    static final String BY_SUBJECT =
            "/* rowlock:find-sagas-of-subject */ WITH walked AS MATERIALIZED (" + WALKED_COLUMNS
                    + " FROM (SELECT id, name, status, step, business_key, subject, created_at FROM rowlock_saga"
                    + " WHERE subject = $7 OFFSET 0) AS of_subject WHERE true " + NEWEST_FIRST + FILTERED;

    /* Index: rowlock_saga_open, in its order, once for each name of $11 and each status of $9. */
    static final String OPEN = "/* rowlock:find-open-sagas */ WITH walked AS MATERIALIZED (" + WALKED_COLUMNS
            + " FROM (SELECT walk.* FROM unnest($11::text[]) AS of_name(n) CROSS JOIN unnest($9::text[]) AS of_status(s)"
            + " CROSS JOIN LATERAL (" + WALKED_COLUMNS
            + " FROM rowlock_saga WHERE finished_at IS NULL AND name = n AND status = s " + NEWEST_FIRST
            + ") walk) AS walks ORDER BY created_at DESC, id DESC LIMIT $4 " + FILTERED;

    /* Index: rowlock_saga_created, in its order. */
    static final String ALL = "/* rowlock:find-sagas */ WITH walked AS MATERIALIZED (" + WALKED_COLUMNS
            + " FROM rowlock_saga WHERE true " + NEWEST_FIRST + FILTERED;

    /* Index: rowlock_saga_open, from one name to the next. Rows: as many as there are names. */
    static final String OPEN_NAMES = """
            /* rowlock:names-of-open-sagas */
            WITH RECURSIVE names(name) AS (
              (SELECT name FROM rowlock_saga WHERE finished_at IS NULL ORDER BY name LIMIT 1)
              UNION ALL
              SELECT (SELECT s.name FROM rowlock_saga s WHERE s.finished_at IS NULL AND s.name > names.name ORDER BY s.name LIMIT 1)
              FROM names
              WHERE names.name IS NOT NULL)
            SELECT name FROM names WHERE name IS NOT NULL LIMIT 10000
            """;

    /* Index: the primary keys; the driver's by a nested query, as a join walks the table of jobs once statistics are stale. */
    static final String VIEW = """
            /* rowlock:view-sagas */
            SELECT s.id, s.name, s.version, s.business_key, s.subject, s.parent, s.status, s.step, s.pivoted, s.reason,
                   s.cancel_reason, s.deadline, s.created_at, s.updated_at, s.finished_at, s.driver, j.run_at, j.locked_by,
                   CASE WHEN $2::boolean THEN s.state::text END AS state
            FROM rowlock_saga s
            LEFT JOIN LATERAL (SELECT run_at, locked_by FROM rowlock_job WHERE id = s.driver OFFSET 0) j ON true
            WHERE s.id = ANY($1::text[])
            ORDER BY s.created_at DESC, s.id DESC
            """;

    private final Sql byKey;
    private final Sql bySubject;
    private final Sql open;
    private final Sql all;
    private final Sql openNames;
    private final Sql view;

    public FindSql(Names names) {
        this.byKey = new Sql(names, BY_KEY);
        this.bySubject = new Sql(names, BY_SUBJECT);
        this.open = new Sql(names, OPEN);
        this.all = new Sql(names, ALL);
        this.openNames = new Sql(names, OPEN_NAMES);
        this.view = new Sql(names, VIEW);
    }

    /** Ids, the newest first, and where the next search goes on; null: there are no more. */
    public record Ids(List<String> ids, @Nullable SagaCursor next) {}

    /** At most a page of what the query asks for. */
    public Ids find(Connection connection, SagaQuery query) throws SQLException {
        Instant before = query.createdBefore().orElse(Instant.MAX);
        SagaCursor after = query.after().orElse(null);
        boolean cursorFirst = after != null && after.createdAt().isBefore(before);
        boolean unfinished =
                !query.statuses().isEmpty() && query.statuses().stream().noneMatch(SagaStatus::finished);
        Object statuses = query.statuses().isEmpty()
                ? null
                : Sql.texts(query.statuses().stream().map(Words::of).toList());
        Object names = null;
        Sql walk = all;
        if (query.businessKey().isPresent()) {
            walk = byKey;
        } else if (query.subject().isPresent()) {
            walk = bySubject;
        } else if (unfinished) {
            walk = open;
            names = Sql.texts(query.name().isPresent() ? List.of(query.name().get()) : namesOfOpen(connection));
        }
        return walk.query(
                        connection,
                        row -> ids(row, query.pageSize()),
                        Sql.timestamp(cursorFirst ? after.createdAt() : before),
                        cursorFirst ? after.id() : "",
                        Sql.timestamp(query.createdFrom().orElse(Instant.MIN)),
                        MOST_WALKED,
                        query.name().orElse(null),
                        query.businessKey().orElse(null),
                        query.subject().orElse(null),
                        query.step().orElse(null),
                        statuses,
                        query.pageSize(),
                        names)
                .get(0);
    }

    private List<String> namesOfOpen(Connection connection) throws SQLException {
        return openNames.query(connection, row -> row.getString("name"));
    }

    private static Ids ids(ResultSet row, int page) throws SQLException {
        Array array = row.getArray("ids");
        List<String> ids = List.of((String[]) array.getArray());
        SagaCursor next = null;
        if (ids.size() == page) {
            next = new SagaCursor(Sql.requiredInstant(row, "found_at"), ids.get(ids.size() - 1));
        } else if (row.getLong("n") == MOST_WALKED) {
            next = new SagaCursor(Sql.requiredInstant(row, "walked_at"), row.getString("walked_id"));
        }
        return new Ids(ids, next);
    }

    /** Those of the ids that are there, the newest first. */
    public List<SagaView> view(Connection connection, Collection<String> ids, boolean withState) throws SQLException {
        return ids.isEmpty() ? new ArrayList<>() : view.query(connection, FindSql::read, Sql.texts(ids), withState);
    }

    public Optional<SagaView> view(Connection connection, String id) throws SQLException {
        return view(connection, Set.of(id), true).stream().findFirst();
    }

    private static SagaView read(ResultSet row) throws SQLException {
        long driver = row.getLong("driver");
        Instant due = row.wasNull() ? null : Sql.instant(row, "run_at");
        return new SagaView(
                row.getString("id"),
                new SagaView.Definition(row.getString("name"), row.getInt("version")),
                new SagaView.Keys(row.getString("business_key"), row.getString("subject"), row.getString("parent")),
                Words.read(SagaStatus.class, row.getString("status")),
                new SagaView.Course(
                        row.getString("step"),
                        row.getBoolean("pivoted"),
                        row.getString("reason"),
                        row.getString("cancel_reason")),
                new SagaView.Times(
                        Sql.requiredInstant(row, "created_at"),
                        Sql.requiredInstant(row, "updated_at"),
                        Sql.instant(row, "finished_at"),
                        Sql.instant(row, "deadline")),
                due == null ? null : new SagaView.Driver(driver, due, row.getString("locked_by")),
                row.getString("state"));
    }
}
