package io.rowlock.saga.fault;

import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The network between all that runs and its database is silent, refuses, or is slow for a while: nothing that was confirmed is
 * lost, effects are there once, and all goes on by itself.
 */
@PostgresTest
@Tag("P2")
@Tag("P3")
@Tag("P4")
@Tag("P10")
@Tag("B51")
@Timeout(300)
final class NetworkTroubleIT {
    private Cluster cluster;
    private TcpProxy network;
    private Trade trade;

    @BeforeEach
    void begin(TestSchema elsewhere) throws SQLException {
        cluster = Cluster.alone();
        network = cluster.network();
        trade = new Trade(cluster, elsewhere.server());
        trade.awaitGoesOn();
    }

    @AfterEach
    void end() throws SQLException {
        network.thaw();
        trade.close();
        cluster.close();
    }

    @Test
    void silent_network_ends_nothing_for_good() throws Exception {
        network.freeze();
        trade.awaitDown();
        network.thaw();
        trade.awaitGoesOn();
        trade.assertHeld();
    }

    @Test
    void network_that_resets_and_refuses_ends_nothing_for_good() throws Exception {
        network.refuse();
        network.cut();
        trade.awaitDown();
        network.accept();
        trade.awaitGoesOn();
        trade.assertHeld();
    }

    @Test
    void everything_goes_on_over_a_slow_network() throws Exception {
        network.delay(Duration.ofMillis(30));
        trade.awaitGoesOn();
        network.delay(Duration.ZERO);
        trade.assertHeld();
    }
}
