package io.rowlock.saga.fault;

import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the rows of the sagas of {@link Mix} and the outside services' books say together, when all should have ended. Each
 * sentence is one breach of what sagas promise.
 */
final class MixFindings {
    private static final String UNENDED = """
            SELECT id || ' is ' || status || ', driver ' || coalesce(driver::text, 'none') || ', at ' || coalesce(step, 'its begin')
                   || ': ' || coalesce(reason, 'no reason')
            FROM rowlock_saga WHERE status NOT IN ('completed', 'compensated') OR driver IS NOT NULL
            """;

    private static final String JOBS = """
            SELECT 'job ' || id || ' (' || kind || ') is ' || state || ' after ' || attempts || ' attempts, of '
                   || coalesce(locked_by, 'nobody') || ': ' || coalesce(last_error, '')
            FROM rowlock_job WHERE state <> 'completed'
            """;

    /* What the books hold of each saga: the steps that are done and not undone. */
    private static final String HELD = """
            WITH held AS MATERIALIZED (
              SELECT saga, array_agg(step ORDER BY step) AS steps FROM BOOKS.deed
              WHERE done IS NOT NULL AND undone IS NULL GROUP BY saga),
            invoiced AS MATERIALIZED (
              SELECT saga, count(*) FILTER (WHERE NOT undo) AS done, count(*) FILTER (WHERE undo) AS undone FROM invoice GROUP BY saga),
            ended AS MATERIALIZED (
              SELECT s.id, s.name, s.status, s.state ->> 'trouble' AS trouble, coalesce(h.steps, '{}') AS steps,
                     coalesce(i.done, 0) AS done, coalesce(i.undone, 0) AS undone, p.status AS parent
              FROM rowlock_saga s LEFT JOIN held h ON h.saga = s.id LEFT JOIN invoiced i ON i.saga = s.id
                   LEFT JOIN rowlock_saga p ON p.id = s.parent)
            """;

    private static final String HALF_DONE = HELD + """
            SELECT id || ' is completed with ' || steps::text || ' of ' || expected::text
            FROM (SELECT ended.*, CASE WHEN trouble = 'gift' AND name = 'wait'
                                       THEN array(SELECT unnest(effects.steps || '{gift-wrap}'::text[]) ORDER BY 1)
                                       ELSE effects.steps END AS expected
                  FROM ended JOIN (VALUES EFFECTS) AS effects(name, steps) USING (name)) AS each
            WHERE status = 'completed' AND parent IS DISTINCT FROM 'compensated' AND steps <> expected
            """;

    private static final String HALF_UNDONE = HELD + """
            SELECT id || ' is ' || status || ', its parent ' || coalesce(parent, 'none') || ', with ' || steps::text
            FROM ended
            WHERE (status = 'compensated' OR parent = 'compensated') AND steps <> '{}'
            """;

    private static final String INVOICES = HELD + """
            SELECT id || ' is ' || status || ' with ' || done || ' invoices and ' || undone || ' that were undone'
            FROM ended
            WHERE done > 1 OR undone > done OR (status = 'compensated' AND undone <> done)
               OR (status = 'completed' AND name = 'order' AND (done, undone) <> (1, 0))
            """;

    private static final String PARENTS = """
            SELECT p.id || ' is ' || p.status || ', its child ' || coalesce(c.status, 'not there')
            FROM rowlock_saga p LEFT JOIN rowlock_saga c ON c.parent = p.id
            WHERE p.name = 'parent' AND p.status = 'completed' AND c.status IS DISTINCT FROM 'completed'
            """;

    private static final String OPEN_STEPS = """
            SELECT s.id || ' is completed, its step ' || t.step || ' ' || t.status
            FROM rowlock_saga s JOIN rowlock_saga_step t ON t.saga = s.id
            WHERE s.status = 'completed' AND t.status NOT IN ('completed') AND t.branch = ''
            UNION ALL
            SELECT s.id || ' is compensated, its step ' || t.step || ' ' || t.status
            FROM rowlock_saga s JOIN rowlock_saga_step t ON t.saga = s.id
            WHERE s.status = 'compensated' AND t.status IN ('compensating', 'compensation_failed')
            """;

    private static final String UNDONE_UNASKED = """
            SELECT d.saga || ' is completed, and ' || d.step || ' undone'
            FROM BOOKS.deed d JOIN rowlock_saga s ON s.id = d.saga LEFT JOIN rowlock_saga p ON p.id = s.parent
            WHERE s.status = 'completed' AND d.undone IS NOT NULL AND p.status IS DISTINCT FROM 'compensated'
            """;

    private static final String TWICE_DONE = """
            SELECT saga || ' has ' || step || ' under ' || count(*) || ' keys' FROM BOOKS.deed
            GROUP BY saga, step HAVING count(*) > 1
            """;

    private static final String ALERTS =
            "SELECT cause || ', ' || kind || ', ' || n || ' times' FROM rowlock_alert WHERE cause NOT IN ('saga late', 'worker lost too often')";

    private static final Map<String, String> ALL = new LinkedHashMap<>();

    static {
        ALL.put("all have ended", UNENDED);
        ALL.put("no job is left", JOBS);
        ALL.put("completed is all done", HALF_DONE);
        ALL.put("compensated is all undone", HALF_UNDONE);
        ALL.put("nothing is undone of what is completed", UNDONE_UNASKED);
        ALL.put("transactions are exactly once", INVOICES);
        ALL.put("who is done has a child that is", PARENTS);
        ALL.put("no step is left", OPEN_STEPS);
        ALL.put("each step has one key", TWICE_DONE);
        ALL.put("nobody was called", ALERTS);
    }

    private MixFindings() {}

    /** The first few breaches of each promise; none if all are kept. */
    static Map<String, List<String>> breaches(TestSchema schema, Books books) throws SQLException {
        schema.execute("ANALYZE rowlock_saga; ANALYZE rowlock_saga_step; ANALYZE invoice; ANALYZE rowlock_job");
        books.schema().execute("ANALYZE deed; ANALYZE call");
        Map<String, List<String>> found = new LinkedHashMap<>();
        for (Map.Entry<String, String> each : ALL.entrySet()) {
            String sql = each.getValue().replace("BOOKS", books.name()).replace("EFFECTS", effects());
            List<String> breaches = schema.list(String.class, sql + " LIMIT 10");
            if (!breaches.isEmpty()) {
                found.put(each.getKey(), breaches);
            }
        }
        List<String> keys = books.severalKeys();
        if (!keys.isEmpty()) {
            found.put("one key over all attempts", keys);
        }
        return found;
    }

    private static String effects() {
        StringBuilder rows = new StringBuilder();
        Mix.EFFECTS.forEach((saga, steps) -> rows.append(rows.isEmpty() ? "" : ", ")
                .append("('" + saga + "', '{" + String.join(",", steps) + "}'::text[])"));
        return rows.toString();
    }
}
