package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.internal.sql.ClaimSql;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.ClaimSql.Share;
import io.rowlock.internal.sql.Names;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The claim statement alone, with millions of rows beside that are none of its business. */
public final class Claims {
    private static final int CLAIMS = 60;
    private static final int ROWS = 200;
    private static final Claimant CLAIMANT = new Claimant("claims", Duration.ofMinutes(10));

    private static final String OTHERS = """
            INSERT INTO rowlock_job (queue, kind, priority, payload, run_at, state, finished_at)
            SELECT 'default', $1, 1, '{"number":1,"text":"0123456789abcdef"}',
                   clock_timestamp() + $2::interval, $3, CASE WHEN $3 = 'completed' THEN clock_timestamp() END
            FROM generate_series(1, $4)
            """;

    private Claims() {}

    /** With finished, future and foreign rows, and without. */
    public static Figure beside() {
        return new Figure(
                "claim",
                "Claim of 200 jobs beside 3,000,000 finished, 1,000,000 future and 800,000 foreign rows",
                "ms",
                List.of(claims("with them", true), claims("without", false)),
                List.of(Reach.atMost(1.5, "with them", "without")),
                "The due index holds neither finished rows nor lease columns, and has the kind in it.");
    }

    private static Contender claims(String name, boolean others) {
        return new Contender(name, "median of " + CLAIMS + " claims in one session", trial -> {
            Backlog backlog = Backlog.empty(trial);
            if (others) {
                fill(trial, "noop", "-1 hour", "completed", 3_000_000);
                fill(trial, "noop", "1 day", "ready", 1_000_000);
                fill(trial, "foreign", "-1 hour", "ready", 800_000);
            }
            backlog.add((CLAIMS + 1) * ROWS, (number, job) -> {});
            trial.settle();
            return medianMillis(trial);
        });
    }

    /** Rows that are there already, written by SQL. */
    static void fill(Trial trial, String kind, String runAt, String state, int rows) throws SQLException {
        String sql = OTHERS.replace("$1", "'" + kind + "'")
                .replace("$2", "'" + runAt + "'")
                .replace("$3", "'" + state + "'")
                .replace("$4", String.valueOf(trial.scaled(rows)));
        trial.schema().execute(sql);
    }

    private static double medianMillis(Trial trial) throws SQLException {
        ClaimSql sql = new ClaimSql(new Names(trial.schema().name(), "rowlock_"));
        LaneScan lane = new LaneScan("default", "noop", 1, null, ROWS);
        double[] millis = new double[CLAIMS];
        try (Connection connection = trial.schema().connect()) {
            for (int i = -1; i < CLAIMS; i++) {
                Stopwatch watch = Stopwatch.started();
                int rows = sql.claim(
                                connection,
                                CLAIMANT,
                                Map.of("default", ROWS),
                                List.of(new Share("default", ROWS, List.of(lane))))
                        .rows()
                        .size();
                if (rows != ROWS) {
                    throw new IllegalStateException("claimed " + rows + " rows instead of " + ROWS);
                }
                if (i >= 0) {
                    millis[i] = watch.seconds() * 1_000;
                }
            }
        }
        Arrays.sort(millis);
        return millis[CLAIMS / 2];
    }
}
