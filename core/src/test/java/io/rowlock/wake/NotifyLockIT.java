package io.rowlock.wake;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A transaction that has sent NOTIFY stands at its commit, as its disk or its standby is slow, and holds the lock that
 * all notifying transactions of the server take in turn.
 */
@Tag("B60")
@Timeout(120)
final class NotifyLockIT {
    private static final int COMMITS = 1_000;

    @Kind("mail")
    private record Mail(int no) {}

    private static final JobKind<Mail> LAST = JobKind.named("last", Mail.class);

    @Test
    void commits_do_not_wait_for_it_and_what_they_tell_meanwhile_goes_in_one_notification() throws Exception {
        ExecutorService standing = Executors.newSingleThreadExecutor();
        try (OwnPostgres server = TestPostgres.embedded(options ->
                        options.setting("synchronous_standby_names", "nobody").setting("synchronous_commit", "local"));
                TestSchema schema = TestSchema.create(server, "notify");
                Witness witness = new Witness(schema)) {
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .schema(schema.name())
                    .notifications(true)
                    .build();
            rowlock.schema().install();
            Future<?> commit = standing.submit(() -> standAtCommit(schema));
            soon().until(() -> holdersOfTheLock(schema) == 1);
            assertThatThrownBy(() -> notifyInItsTransaction(schema)).hasMessageContaining("lock timeout");

            tellAfterCommits(schema, rowlock, JobKind.of(Mail.class), 1);
            soon().until(() -> waiting(schema) == 1);
            tellAfterCommits(schema, rowlock, JobKind.of(Mail.class), COMMITS - 1);
            assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(COMMITS);
            assertThat(holdersOfTheLock(schema)).isEqualTo(1);
            assertThat(waiting(schema)).isLessThanOrEqualTo(1);

            letGo(schema);
            commit.get(30, TimeUnit.SECONDS);
            assertThat(witness.next()).contains(" default mail ");
            tellAfterCommits(schema, rowlock, LAST, 1);
            assertThat(witness.countUntil(" default last ")).isLessThanOrEqualTo(1);
        } finally {
            standing.shutdownNow();
        }
    }

    private static Void standAtCommit(TestSchema schema) throws SQLException {
        try (Connection connection = schema.connect();
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE business (id int)");
            statement.execute("SET synchronous_commit = on"); // from here on its commits wait for a standby
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO business VALUES (1)");
            statement.execute("SELECT pg_notify('application', 'row 1')");
            connection.commit();
        }
        return null;
    }

    private static void notifyInItsTransaction(TestSchema schema) throws SQLException {
        try (Connection connection = schema.connect();
                var statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = '300ms'");
            statement.execute("SELECT pg_notify('application', 'row 2')");
        }
    }

    private static long holdersOfTheLock(TestSchema schema) throws SQLException {
        return schema.count("SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND database = 0"
                + " AND classid = 'pg_database'::regclass AND objid = 0 AND mode = 'AccessExclusiveLock' AND granted");
    }

    private static long waiting(TestSchema schema) throws SQLException {
        return schema.count("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '/* rowlock:notify */%'"
                + " AND wait_event_type = 'Lock'");
    }

    private static void letGo(TestSchema schema) throws SQLException {
        schema.count("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    }

    private static void tellAfterCommits(TestSchema schema, Rowlock rowlock, JobKind<Mail> kind, int commits)
            throws SQLException {
        try (Connection connection = schema.begin()) {
            for (int no = 0; no < commits; no++) {
                Enqueued job = rowlock.outbox().enqueue(connection, kind, new Mail(no), options -> {});
                connection.commit();
                rowlock.wake(List.of(job));
            }
        }
    }
}
