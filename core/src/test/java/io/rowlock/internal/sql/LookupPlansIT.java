package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rowlock.Rowlock;
import io.rowlock.internal.sql.FindSql.Ids;
import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.internal.sql.PlansIT.Statistics;
import io.rowlock.job.JobCounts;
import io.rowlock.job.JobCursor;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What people look for costs what its index says, in a table of 300,000 rows, whatever the statistics. */
@Tag("P14")
class LookupPlansIT {
    private static final int ROWS = 300_000;
    private static final int READ = FindSql.MOST_WALKED;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A statement, the indexes it may use, and how many pages it may read. */
    private record Priced(Pinned pinned, long pages) {}

    @ParameterizedTest
    @EnumSource(Statistics.class)
    void every_search_and_count_walks_its_index_and_no_more_rows_than_told(Statistics statistics) throws Exception {
        try (TestSchema schema = loaded(statistics);
                Connection connection = schema.begin()) {
            List<String> wrong = new ArrayList<>();
            for (Priced priced : statements()) {
                JsonNode plan = PlansIT.explain(schema, connection, priced.pinned());
                connection.rollback();
                wrong.addAll(problems(priced.pinned(), plan, "planned for its parameters"));
                long pages = PlansIT.buffers(plan);
                System.out.printf(
                        "%s %-20s %8.2f ms %6d buffers%n",
                        statistics,
                        priced.pinned().name(),
                        plan.get("Execution Time").asDouble(),
                        pages);
                if (pages > priced.pages()) {
                    wrong.add(priced.pinned() + " reads " + pages + " pages, not " + priced.pages());
                }
                wrong.addAll(problems(priced.pinned(), generic(schema, priced.pinned()), "generic"));
            }
            assertThat(wrong).isEmpty();
        }
    }

    @Test
    void a_search_for_something_rare_gives_short_pages_that_lead_to_all_of_it() throws Exception {
        try (TestSchema schema = loaded(Statistics.FRESH);
                Connection connection = schema.connect()) {
            FindSql finds = new FindSql(names(schema));
            schema.execute("INSERT INTO rowlock_job (id, kind, queue, payload) OVERRIDING SYSTEM VALUE VALUES"
                    + " (1000001, 'rare', 'q-0', '{}')");
            schema.execute("UPDATE rowlock_job SET kind = 'rare' WHERE id = 17");

            List<Long> found = new ArrayList<>();
            int pages = 0;
            JobQuery query = JobQuery.all().kind("rare");
            for (Ids page = finds.find(connection, query); ; page = finds.find(connection, query)) {
                found.addAll(page.ids());
                pages++;
                if (page.next() == null) {
                    break;
                }
                query = query.after(page.next());
            }
            assertThat(found).containsExactly(1_000_001L, 17L);
            assertThat(pages).isBetween(ROWS / READ, ROWS / READ + 2);
        }
    }

    @Test
    void pages_over_many_queues_and_kinds_give_each_job_once_and_in_order() throws Exception {
        try (TestSchema schema = loaded(Statistics.FRESH);
                Connection connection = schema.connect()) {
            FindSql finds = new FindSql(names(schema));
            for (JobQuery query : List.of(
                    JobQuery.all().state(JobState.DEAD, JobState.CANCELLED),
                    JobQuery.all().state(JobState.DEAD).queue("q-1"),
                    JobQuery.all().state(JobState.DEAD).kind("kind-2").queue("q-2"),
                    JobQuery.all().subject("Order:3"))) {
                List<Long> found = all(finds, connection, query.pageSize(1_000));
                String where = "(" + condition(query) + ")";
                assertThat(found)
                        .isEqualTo(schema.list(
                                Long.class, "SELECT id FROM rowlock_job WHERE " + where + " ORDER BY id DESC"))
                        .isNotEmpty();
            }
            Instant half = schema.list(
                            java.sql.Timestamp.class,
                            "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY finished_at) FROM rowlock_job")
                    .get(0)
                    .toInstant();
            assertThat(all(finds, connection, JobQuery.all().finishedFrom(half).pageSize(1_000)))
                    .isEqualTo(schema.list(
                            Long.class,
                            "SELECT id FROM rowlock_job WHERE finished_at >= (SELECT percentile_disc(0.5) WITHIN GROUP"
                                    + " (ORDER BY finished_at) FROM rowlock_job) ORDER BY finished_at DESC, id DESC"));
        }
    }

    @Test
    void counts_stop_at_their_bound_and_are_exact_below_it() throws Exception {
        try (TestSchema schema = loaded(Statistics.FRESH);
                Connection connection = schema.connect()) {
            CountSql counts = new CountSql(names(schema));
            for (JobCounts lane : counts.count(connection, counts.lanes(connection))) {
                String of = " AND queue = '" + lane.queue() + "' AND kind = '" + lane.kind() + "'";
                assertThat(lane.lag().due())
                        .isEqualTo(exactly(schema, "state = 'ready' AND run_at < clock_timestamp()" + of));
                assertThat(lane.future())
                        .isEqualTo(exactly(schema, "state = 'ready' AND run_at > clock_timestamp()" + of));
                assertThat(lane.dead()).isEqualTo(exactly(schema, "state = 'dead'" + of));
                assertThat(lane.parked()).isEqualTo(exactly(schema, "state = 'parked'" + of));
                assertThat(lane.suspects()).isEqualTo(exactly(schema, "state = 'ready' AND losses > 0" + of));
            }
        }
    }

    private static long exactly(TestSchema schema, String condition) throws Exception {
        return Math.min(JobCounts.MOST, schema.count("SELECT count(*) FROM rowlock_job WHERE " + condition));
    }

    private static List<Long> all(FindSql finds, Connection connection, JobQuery first) throws Exception {
        List<Long> found = new ArrayList<>();
        JobQuery query = first;
        for (JobCursor next = null; ; query = query.after(next)) {
            Ids page = finds.find(connection, query);
            found.addAll(page.ids());
            next = page.next();
            if (next == null) {
                return found;
            }
        }
    }

    private static String condition(JobQuery query) {
        List<String> all = new ArrayList<>();
        query.kind().ifPresent(kind -> all.add("kind = '" + kind + "'"));
        query.queue().ifPresent(queue -> all.add("queue = '" + queue + "'"));
        query.subject().ifPresent(subject -> all.add("subject = '" + subject + "'"));
        if (!query.states().isEmpty()) {
            all.add("state IN ('"
                    + String.join(
                            "', '", query.states().stream().map(JobState::text).toList()) + "')");
        }
        return String.join(" AND ", all);
    }

    private static List<Priced> statements() {
        List<String> ready =
                List.of("rowlock_job_due", "rowlock_job_suspect", "rowlock_job_keyed", "rowlock_job_aside");
        Object states = Sql.texts(List.of("dead", "cancelled"));
        return List.of(
                new Priced(find("find-jobs", FindSql.ALL, List.of("rowlock_job_pk"), null, null, null, null), 1_500),
                new Priced(
                        find(
                                "find-of-subject",
                                FindSql.OF_SUBJECT,
                                List.of("rowlock_job_subject"),
                                null,
                                null,
                                null,
                                "Order:3"),
                        READ + 200),
                new Priced(
                        find(
                                "find-aside",
                                FindSql.SET_ASIDE,
                                List.of("rowlock_job_aside"),
                                states,
                                Sql.texts(List.of("q-1", "q-2")),
                                Sql.texts(List.of("kind-1", "kind-2")),
                                null),
                        READ + 400),
                new Priced(
                        find(
                                "find-finished",
                                FindSql.FINISHED,
                                List.of("rowlock_job_finished"),
                                states,
                                null,
                                null,
                                null),
                        READ + 400),
                new Priced(pin("lanes-aside", FindSql.LANES, List.of("rowlock_job_aside")), 300),
                new Priced(pin("lanes-ready", CountSql.LANES, ready), 500),
                new Priced(
                        pin(
                                "paused-queues",
                                WaitingSql.PAUSED,
                                Stream.concat(ready.stream(), Stream.of("rowlock_queue_pk", "rowlock_operation_pk"))
                                        .toList(),
                                100),
                        1_000),
                new Priced(
                        pin(
                                "count-lanes",
                                CountSql.COUNT,
                                ready,
                                Sql.texts(List.of("q-0", "q-1")),
                                Sql.texts(List.of("kind-0", "kind-1"))),
                        2 * 60_000));
    }

    private static Pinned find(
            String name,
            String template,
            List<String> indexes,
            Object states,
            Object queues,
            Object kinds,
            String subject) {
        return pin(
                name,
                template,
                indexes,
                "infinity",
                template.equals(FindSql.FINISHED) ? 0L : Long.MAX_VALUE,
                "-infinity",
                states == null ? READ : READ / 2,
                Sql.texts(List.of("kind-1")),
                null,
                subject,
                null,
                null,
                null,
                100,
                states,
                queues,
                kinds);
    }

    /** Ten queues, ten kinds; the last is set aside rows: 12,000 each of dead, cancelled, parked. */
    private static TestSchema loaded(Statistics statistics) throws Exception {
        TestSchema schema = TestSchema.create(TestPostgres.shared(), "lookups");
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
        schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
        if (statistics == Statistics.STALE) {
            load(schema, 300);
            schema.execute("ANALYZE rowlock_job");
        }
        load(schema, ROWS);
        if (statistics == Statistics.FRESH) {
            schema.execute("ANALYZE rowlock_job");
        }
        return schema;
    }

    private static void load(TestSchema schema, int rows) throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (queue, kind, payload, subject, state, limited, run_at, losses, ordering_key, finished_at)"
                        + " SELECT 'q-' || n / 7 % 10, 'kind-' || n / 7 % 10, '{}', CASE WHEN n % 3 = 0 THEN 'Order:' || n % 20000 END,"
                        + " s.state, false, clock_timestamp() + CASE WHEN n % 2 = 0 THEN -1 ELSE 1 END * n * interval '1 s',"
                        + " CASE WHEN n % 70 = 1 THEN 1 ELSE 0 END,"
                        + " CASE WHEN n % 5 = 0 THEN 'key-' || n % 1000 END,"
                        + " CASE WHEN s.state IN ('completed', 'dead', 'cancelled') THEN clock_timestamp() - n * interval '1 s' END"
                        + " FROM generate_series(1, ?) n CROSS JOIN LATERAL (SELECT CASE WHEN n % 25 = 0 THEN 'dead'"
                        + " WHEN n % 25 = 5 THEN 'cancelled' WHEN n % 25 = 10 THEN 'parked' WHEN n % 2 = 0 THEN 'ready'"
                        + " ELSE 'completed' END AS state) s",
                rows);
        schema.execute(
                "INSERT INTO rowlock_queue (queue, paused_at, paused_by)"
                        + " VALUES ('q-1', clock_timestamp(), 'ada'), ('q-2', clock_timestamp(), 'ada') ON CONFLICT DO NOTHING");
    }

    private static List<String> problems(Pinned pinned, JsonNode plan, String how) {
        List<String> wrong = new ArrayList<>();
        TreeSet<String> used = new TreeSet<>();
        for (JsonNode node : plan.findParents("Node Type")) {
            if (node.get("Node Type").asText().equals("Seq Scan")
                    && node.path("Relation Name").asText().startsWith("rowlock_job")) {
                wrong.add(pinned.name() + ' ' + how + ": sequential scan");
            }
            if (node.has("Index Name")) {
                used.add(node.get("Index Name").asText());
            }
        }
        used.removeAll(pinned.indexes());
        used.forEach(index -> wrong.add(pinned.name() + ' ' + how + ": unexpected index " + index));
        return wrong;
    }

    private static JsonNode generic(TestSchema schema, Pinned pinned) throws Exception {
        var simple = schema.dataSource();
        simple.setPreferQueryMode(org.postgresql.jdbc.PreferQueryMode.SIMPLE);
        try (Connection connection = simple.getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(
                        "EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + names(schema).apply(pinned.template()))) {
            assertThat(row.next()).isTrue();
            return JSON.readTree(row.getString(1)).get(0);
        }
    }

    private static Names names(TestSchema schema) {
        return new Names(schema.name(), "rowlock_");
    }
}
