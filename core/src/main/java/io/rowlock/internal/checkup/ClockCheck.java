package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.CheckupSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * How far this node's clock is off the database's, taking the database's to have been read in the middle of the round trip;
 * the quickest of a few round trips counts, and its half is what the answer may be wrong by (Cristian, 1989).
 */
final class ClockCheck implements Check {
    private static final int ROUNDS = 4;

    private final CheckupSql sql;
    private final Clock clock;
    private final Duration tolerated;

    ClockCheck(CheckupSql sql, Clock clock, Duration tolerated) {
        this.sql = sql;
        this.clock = clock;
        this.tolerated = tolerated;
    }

    @Override
    public String subject() {
        return "the clocks";
    }

    @Override
    public String right() {
        return "Every role may read the clock; ask the owner of the server.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        Duration quickest = Duration.ofDays(1);
        Duration skew = Duration.ZERO;
        for (int i = 0; i < ROUNDS; i++) {
            long before = System.nanoTime();
            Instant here = clock.instant();
            Instant there = sql.clock(connection);
            Duration trip = Duration.ofNanos(System.nanoTime() - before);
            if (trip.compareTo(quickest) < 0) {
                quickest = trip;
                skew = Duration.between(there, here.plus(trip.dividedBy(2)));
            }
        }
        if (skew.abs().minus(quickest.dividedBy(2)).compareTo(tolerated) < 0) {
            return List.of();
        }
        return List.of(Symptom.CLOCK_SKEW.seen(
                "This node's clock is " + skew.abs().toMillis() + " ms "
                        + (skew.isNegative() ? "behind" : "ahead of") + " the database's (give or take "
                        + quickest.dividedBy(2).toMillis() + " ms)",
                "Set both by NTP: chronyc tracking, or timedatectl status, says which one is off."));
    }
}
