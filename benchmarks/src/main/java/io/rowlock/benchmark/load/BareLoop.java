package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Trial;
import io.rowlock.internal.sql.ClaimSql;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.ClaimSql.Share;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OutcomeSql;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The floor: the very statements of a claim and a completion in a loop on one connection, one after the other, and nothing
 * else: no handler, no lease kept, no sweep, nothing that could go wrong.
 */
final class BareLoop {
    private static final int BATCH = 500;
    private static final Claimant CLAIMANT = new Claimant("floor", Duration.ofMinutes(1));

    private final ClaimSql claims;
    private final OutcomeSql outcomes;
    private final boolean delete;
    private @Nullable Instant since;

    private BareLoop(Trial trial, boolean delete) {
        Names names = new Names(trial.schema().name(), "rowlock_");
        this.claims = new ClaimSql(names);
        this.outcomes = new OutcomeSql(names);
        this.delete = delete;
    }

    static double jobsPerSecond(Trial trial, int jobs, boolean delete) throws Exception {
        Backlog.of(trial, jobs);
        trial.settle();
        BareLoop loop = new BareLoop(trial, delete);
        try (Connection connection = trial.schema().connect()) {
            Stopwatch watch = Stopwatch.started();
            for (int done = 0; done < jobs; ) {
                done += loop.turn(connection);
            }
            return jobs / watch.seconds();
        }
    }

    /** One claim and one completion. */
    private int turn(Connection connection) throws SQLException {
        LaneScan lane = new LaneScan("default", "noop", 1, since, BATCH);
        List<ClaimedRow> rows = claims.claim(
                        connection,
                        CLAIMANT,
                        Map.of("default", BATCH),
                        List.of(new Share("default", BATCH, List.of(lane))))
                .rows();
        if (rows.isEmpty()) {
            return 0;
        }
        since = rows.get(rows.size() - 1).runAt();
        List<Grip> grips =
                rows.stream().map(row -> new Grip(row.id(), row.turn().token())).toList();
        return outcomes.complete(connection, CLAIMANT.owner(), grips, delete).size();
    }
}
