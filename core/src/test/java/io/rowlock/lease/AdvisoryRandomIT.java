package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads of two processes lead by one session's lock, let go of it, share it, and have its session killed at random. {@code
 * -Drowlock.leases.seed} repeats a run's choices.
 */
@PostgresTest
@Timeout(180)
final class AdvisoryRandomIT {
    private static final long SEED = Long.getLong("rowlock.leases.seed", System.nanoTime());
    private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("rowlock.leases.seconds", 10));
    private static final String HERE = "crowd here";
    private static final String THERE = "crowd there";

    private final TestSchema schema;

    AdvisoryRandomIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    @Tag("P3")
    @Tag("B16")
    void never_do_two_write_as_leaders_at_once_and_nothing_is_left_of_them() throws Exception {
        System.out.println("rowlock.leases.seed=" + SEED);
        AdvisoryLeader last = TestRowlock.fresh(schema).rowlock().advisoryLeader(AdvisoryCrowd.LEADER);
        schema.execute("CREATE TABLE led (who text, during tstzrange, EXCLUDE USING gist (during WITH &&))");
        try (ChildJvm child = AdvisoryCrowd.launch(schema, THERE, SEED + 100, TIME)) {
            child.awaitLine("leading", Duration.ofSeconds(60));
            AdvisoryCrowd crowd = new AdvisoryCrowd(schema, HERE, SEED, TIME);
            long killed = kill(last.key(), new Random(SEED - 1));
            assertThat(crowd.close()).as("seed %d", SEED).isEmpty();
            assertThat(child.awaitLine("closed", Duration.ofSeconds(60))).isEqualTo("closed []");
            assertThat(child.lines()).as("seed %d", SEED).noneMatch(line -> line.startsWith("wrong"));

            soon().untilAsserted(() ->
                    assertThat(AdvisoryCrowd.threadsLeft()).as("threads").isEmpty());
            soon().untilAsserted(() -> assertThat(sessions()).as("sessions").isZero());
            assertThat(schema.list(String.class, "SELECT DISTINCT who FROM led ORDER BY who"))
                    .containsExactly(HERE, THERE);
            assertThat(schema.count("SELECT count(*) FROM led")).isGreaterThan(50);
            assertThat(killed).isGreaterThan(5);
        }
        assertThat(last.tryAcquire()).as("the lock is free").isTrue();
        last.close();
    }

    /** As long as they lead; gives how often. */
    private long kill(long key, Random random) throws SQLException {
        long until = System.nanoTime() + TIME.toNanos();
        long killed = 0;
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50 + random.nextInt(200)));
            killed += schema.count(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
                            + " AND (classid::bigint << 32 | objid::bigint) = ?",
                    key);
        }
        return killed;
    }

    private long sessions() throws SQLException {
        return schema.count("SELECT count(*) FROM pg_stat_activity WHERE application_name IN (?, ?)", HERE, THERE);
    }
}
