package io.rowlock.internal.alert;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.AlertLimits;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A report on a standby keeps dead rows here, by the slot of that standby; no session here shows it. */
@Tag("B58")
final class SlotHorizonIT {
    @Test
    void a_slot_whose_standby_holds_an_old_snapshot_is_told_of_by_its_name() throws Exception {
        try (OwnPostgres server = TestPostgres.embedded(options -> {});
                TestSchema schema = TestSchema.create(server, "slot");
                OwnPostgres standby = server.standby();
                Connection report = standby.connect()) {
            TestRowlock rowlock = TestRowlock.fresh(schema);
            String slot = schema.list(String.class, "SELECT slot_name::text FROM pg_replication_slots")
                    .get(0);
            execute(standby, "ALTER SYSTEM SET hot_standby_feedback = on");
            execute(standby, "ALTER SYSTEM SET wal_receiver_status_interval = '1s'");
            report.setAutoCommit(false);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            report.createStatement().execute("SELECT count(*) FROM pg_class");
            execute(standby, "SELECT pg_reload_conf()");
            soon().until(() -> schema.count("SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL") == 1);
            schema.execute("DO $$ BEGIN FOR i IN 1..1500 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
            Watchers watchers = new Watchers(
                    new Names(schema.name(), "rowlock_"),
                    AlertLimits.none().snapshotPinned(Duration.ofSeconds(1)),
                    new Watchers.Worker("me-1", "me", Set.of("default"), Set.of("mine")),
                    Clock.systemUTC());

            soon().until(() -> {
                rowlock.commit(connection -> watchers.look(connection, AlertCause.SNAPSHOT_PINNED));
                return !open(rowlock).isEmpty();
            });

            assertThat(open(rowlock)).singleElement().satisfies(alert -> {
                assertThat(alert.kind()).isEqualTo("replication slot");
                assertThat(alert.reason()).contains("replication slot " + slot + " (connected) is", "has not moved");
            });
        }
    }

    private static void execute(OwnPostgres server, String sql) throws Exception {
        try (Connection connection = server.connect();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<Alert> open(TestRowlock rowlock) {
        return rowlock.rowlock().alerts().open(AlertFilter.all(), null, 10);
    }
}
