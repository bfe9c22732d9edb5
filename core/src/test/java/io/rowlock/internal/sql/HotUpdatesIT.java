package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.ClaimSql.Share;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Claims and heartbeats write no index entry: their updates are HOT, nine indexes notwithstanding. */
@PostgresTest
class HotUpdatesIT {
    private static final int JOBS = 5_000;
    private static final int BATCH = 500;
    private static final Duration LEASE = Duration.ofMinutes(1);

    @Kind("noop")
    record Noop(String text) {}

    @Test
    void claims_and_heartbeats_are_hot_updates(TestSchema schema) throws SQLException {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        enqueue(schema, rowlock);
        Names names = new Names(schema.name(), "rowlock_");
        ClaimSql claims = new ClaimSql(names);
        OutcomeSql outcomes = new OutcomeSql(names);
        int done = 0;
        try (Connection connection = schema.connect()) {
            while (done < JOBS) {
                List<Grip> grips = claims
                        .claim(
                                connection,
                                new Claimant("me", LEASE),
                                Map.of("default", BATCH),
                                List.of(new Share(
                                        "default", BATCH, List.of(new LaneScan("default", "noop", 1, null, BATCH)))))
                        .rows()
                        .stream()
                        .map(row -> new Grip(row.id(), row.turn().token()))
                        .toList();
                assertThat(grips).isNotEmpty();
                assertThat(outcomes.heartbeat(connection, "me", grips, LEASE)).hasSize(grips.size());
                assertThat(outcomes.complete(connection, "me", grips, true)).hasSize(grips.size());
                done += grips.size();
            }
            connection.createStatement().execute("SELECT pg_stat_force_next_flush()");
        }
        long all = statistic(schema, "n_tup_upd");
        long hot = statistic(schema, "n_tup_hot_upd");
        assertThat(all).isEqualTo(2L * JOBS);
        assertThat(hot * 100 / all).isGreaterThanOrEqualTo(95);
    }

    private static long statistic(TestSchema schema, String column) throws SQLException {
        return schema.count(
                "SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'rowlock_job' AND schemaname = ?",
                schema.name());
    }

    private static void enqueue(TestSchema schema, Rowlock rowlock) throws SQLException {
        List<JobRequest<?>> jobs = new ArrayList<>();
        for (int i = 0; i < JOBS; i++) {
            jobs.add(JobRequest.of(new Noop("forty bytes of payload, more or less ")));
        }
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueueAll(connection, jobs);
            connection.commit();
        }
    }
}
