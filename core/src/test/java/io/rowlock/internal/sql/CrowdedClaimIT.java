package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.Crowd;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What claims read does not grow with the crowd around the jobs they take. */
@Tag("B59")
@Tag("P12")
final class CrowdedClaimIT {
    private static final int MOST = 200;

    /** What a claim writes must not hide what it reads. */
    private static final int FEW = 10;

    @Test
    void claims_read_no_more_pages_beside_a_crowd_than_alone() throws Exception {
        Map<String, Long> alone;
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "alone")) {
            alone = buffers(loaded(schema, false), null);
        }
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "crowd")) {
            assertNoMore(buffers(loaded(schema, true), null), alone);
            schema.execute("UPDATE rowlock_job SET state = 'parked', limited = limit_key IS NOT NULL"
                    + " WHERE kind = 'mine' AND state = 'ready' AND (ordering_key = 'blocked' OR limit_key = 'full')");
            assertNoMore(buffers(schema, Instant.now().minusSeconds(600)), alone);
        }
    }

    private static void assertNoMore(Map<String, Long> buffers, Map<String, Long> alone) {
        assertThat(buffers.keySet()).isEqualTo(alone.keySet());
        assertThat(buffers)
                .allSatisfy((name, n) -> assertThat(n)
                        .as("%s, alone %s", name, alone)
                        .isLessThanOrEqualTo(alone.getOrDefault(name, 0L) * 3 / 2));
    }

    /** 500 due jobs without keys, and as many with one of 200 ordering keys. */
    private static TestSchema loaded(TestSchema schema, boolean crowded) throws SQLException {
        TestRowlock.fresh(schema);
        schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
        if (crowded) {
            Crowd.load(schema, "mine");
        }
        schema.execute("INSERT INTO rowlock_job (kind, payload) SELECT 'mine', '{}' FROM generate_series(1, 500)");
        schema.execute("INSERT INTO rowlock_job (kind, payload, ordering_key)"
                + " SELECT 'mine', '{}', 'own-' || n % 200 FROM generate_series(1, 500) n");
        schema.execute("INSERT INTO rowlock_key (queue, ordering_key)"
                + " SELECT 'default', 'own-' || n FROM generate_series(0, 199) n");
        schema.execute("ANALYZE rowlock_job; ANALYZE rowlock_key");
        return schema;
    }

    private static Map<String, Long> buffers(TestSchema schema, @Nullable Instant since) throws Exception {
        Map<String, Long> buffers = new TreeMap<>();
        try (Connection connection = schema.begin()) {
            for (Pinned claim : claims(since)) {
                buffers.put(claim.name(), PlansIT.buffers(PlansIT.explain(schema, connection, claim)));
                connection.rollback();
            }
        }
        return buffers;
    }

    private static List<Pinned> claims(@Nullable Instant since) {
        Object queues = Sql.texts(List.of("default", "default", "default"));
        Object kinds = Sql.texts(List.of("mine", "mine", "mine"));
        Object priorities = Sql.integers(List.of(0, 1, 2));
        Object from = Sql.instants(Arrays.asList(since, since, since));
        Object most = Sql.integers(Collections.nCopies(3, MOST));
        Object one = Sql.texts(List.of("default"));
        Object share = Sql.integers(List.of(1, 1, 1));
        return List.of(
                PlannedStatements.pin(
                        "claim",
                        ClaimSql.CLAIM_DUE,
                        List.of(),
                        "me",
                        60_000_000L,
                        one,
                        Sql.integers(List.of(FEW)),
                        one,
                        Sql.integers(List.of(FEW)),
                        share,
                        kinds,
                        priorities,
                        from,
                        most),
                PlannedStatements.pin(
                        "keyed-candidates",
                        KeyedClaimSql.CANDIDATES,
                        List.of(),
                        queues,
                        kinds,
                        priorities,
                        from,
                        most,
                        Sql.bigints(List.of()),
                        20),
                PlannedStatements.pin(
                        "due-of-queues", DueSql.DUE, List.of(), queues, kinds, priorities, from, from, MOST));
    }
}
