package io.rowlock.saga.fault;

import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A synchronous standby takes over while clients buy, jobs and sagas run, one of two processes leads and both share the parts of a
 * feed: nothing that was confirmed is lost, what belongs to a transaction is there once, no leader or member of before writes after
 * the next, and all goes on by itself.
 */
@PostgresTest
@Tag("P1")
@Tag("P2")
@Tag("P3")
@Tag("P4")
@Tag("P10")
@Tag("B51")
@Timeout(300)
final class TakeOverIT {
    private static final int LOST_ANSWERS = 20;

    private Cluster cluster;
    private Trade trade;

    @BeforeEach
    void begin(TestSchema elsewhere) throws SQLException {
        cluster = Cluster.withStandby();
        trade = new Trade(cluster, elsewhere.server());
        trade.awaitGoesOn();
    }

    @AfterEach
    void end() throws SQLException {
        trade.close();
        cluster.close();
    }

    @Test
    void killed_primary_is_replaced_and_everything_goes_on() throws Exception {
        assertTakesOver(cluster::failOver);
    }

    @Test
    void old_primary_that_stays_up_and_takes_no_writes_holds_nobody() throws Exception {
        assertTakesOver(cluster::switchOver);
    }

    private interface TakeOver {
        void run() throws SQLException;
    }

    private void assertTakesOver(TakeOver takeOver) throws Exception {
        cluster.loseAnswersOfCommits(LOST_ANSWERS); // as those that the take-over meets by chance
        takeOver.run();
        trade.movedTo(cluster.after());
        trade.awaitGoesOn();
        trade.assertHeld();
    }
}
