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
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Somebody has prepared a transaction, and gone: no session shows it. */
@Tag("B58")
final class PreparedTransactionIT {
    @Test
    void a_forgotten_prepared_transaction_is_told_of_by_its_name() throws Exception {
        try (OwnPostgres server = TestPostgres.embedded(options -> options.setting("max_prepared_transactions", "5"));
                TestSchema schema = TestSchema.create(server, "prepared")) {
            TestRowlock rowlock = TestRowlock.fresh(schema);
            Watchers watchers = new Watchers(
                    new Names(schema.name(), "rowlock_"),
                    AlertLimits.none().snapshotPinned(Duration.ofSeconds(1)),
                    new Watchers.Worker("me-1", "me", Set.of("default"), Set.of("mine")),
                    Clock.systemUTC());
            schema.execute("BEGIN; INSERT INTO rowlock_job (kind, payload) VALUES ('x', '{}');"
                    + "PREPARE TRANSACTION 'order 42'");

            soon().until(() -> {
                rowlock.commit(connection -> watchers.look(connection, AlertCause.SNAPSHOT_PINNED));
                return !open(rowlock).isEmpty();
            });

            assertThat(open(rowlock)).singleElement().satisfies(alert -> {
                assertThat(alert.kind()).isEqualTo("prepared transaction");
                assertThat(alert.reason()).contains("Prepared transaction order 42", "ROLLBACK PREPARED");
            });
            schema.execute("ROLLBACK PREPARED 'order 42'");
        }
    }

    private static List<Alert> open(TestRowlock rowlock) {
        return rowlock.rowlock().alerts().open(AlertFilter.all(), null, 10);
    }
}
