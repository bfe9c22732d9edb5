package io.rowlock.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.error.RowlockException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several processes take one lease, write through its fence, release it, forget it, lose their sessions, and have it run out or
 * revoked at random. What was written says whether two ever wrote at once: between the first and the last row of a token there
 * is none of another, and tokens rise. {@code -Drowlock.leases.seed} repeats a run's choices.
 */
@PostgresTest
@Timeout(180)
final class LeaseRandomIT {
    private static final long SEED = Long.getLong("rowlock.leases.seed", System.nanoTime());
    private static final long FOR = TimeUnit.SECONDS.toNanos(Integer.getInteger("rowlock.leases.seconds", 10));

    private final TestSchema schema;

    LeaseRandomIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    @Tag("P3")
    void never_do_two_tokens_write_through_their_fences_at_once() throws Exception {
        System.out.println("rowlock.leases.seed=" + SEED);
        TestRowlock.fresh(schema);
        schema.execute("CREATE TABLE written (n bigint GENERATED ALWAYS AS IDENTITY, token bigint NOT NULL)");
        long until = System.nanoTime() + FOR;
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger revoked = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int taker = 0; taker < 5; taker++) {
                Random random = new Random(SEED + taker);
                all.add(threads.submit(() -> takeAndWrite(random, until, refused)));
            }
            all.add(threads.submit(() -> disturb(new Random(SEED - 1), until, revoked)));
            for (Future<?> each : all) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError("seed " + SEED, e);
        } finally {
            threads.shutdownNow();
        }
        List<Long> tokens = schema.list(Long.class, "SELECT token FROM written ORDER BY n");
        System.out.printf(
                "%d writes under %d tokens, %d refused, %d times revoked%n",
                tokens.size(), tokens.stream().distinct().count(), refused.get(), revoked.get());
        assertThat(tokens).as("seed %d", SEED).hasSizeGreaterThan(50).isSorted();
        assertThat(tokens.stream().distinct().count()).isGreaterThan(5);
        assertThat(schema.count("SELECT count(*) FROM rowlock_lease_history WHERE ended = 'revoked'"))
                .as("each revocation ended a holding, seed %d", SEED)
                .isPositive()
                .isEqualTo(revoked.get());
    }

    private Void takeAndWrite(Random random, long until, AtomicInteger refused) throws SQLException {
        Leases leases = TestRowlock.beside(schema).rowlock().leases();
        Fence before = null;
        while (System.nanoTime() < until) {
            Optional<Lease> taken = tryTake(leases);
            if (taken.isEmpty()) {
                if (before != null && random.nextInt(4) == 0) {
                    write(random, before, refused); // late
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(40)));
                continue;
            }
            Lease lease = taken.get();
            before = leases.fence(lease.name(), lease.token()); // asks the row alone
            for (int n = random.nextInt(12); n > 0; n--) {
                write(random, before, refused);
            }
            if (random.nextInt(3) > 0) {
                lease.release();
            }
        }
        leases.stop(Duration.ZERO);
        return null;
    }

    private static Optional<Lease> tryTake(Leases leases) {
        try {
            return leases.tryTake("race", Duration.ofSeconds(1));
        } catch (RowlockException sessionKilled) {
            return Optional.empty();
        }
    }

    /** The number is drawn after the fence, and visible with the commit: so their order is that of the fences. */
    private void write(Random random, Fence fence, AtomicInteger refused) throws SQLException {
        try (Connection connection = schema.begin()) {
            fence.fence(connection);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(10)));
            try (var statement = connection.prepareStatement("INSERT INTO written (token) VALUES (?)")) {
                statement.setLong(1, fence.token());
                statement.executeUpdate();
            }
            connection.commit();
        } catch (RowlockException e) {
            refused.incrementAndGet();
        } catch (SQLException sessionKilled) {
            assertThat(sessionKilled.getSQLState()).matches("57P01|08.*");
        }
    }

    private Void disturb(Random random, long until, AtomicInteger revoked) throws SQLException {
        Leases leases = TestRowlock.beside(schema).rowlock().leases();
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50 + random.nextInt(200)));
            switch (random.nextInt(6)) {
                case 0 -> schema.execute("UPDATE rowlock_lease SET expires_at = clock_timestamp()");
                case 1 -> schema.execute("DELETE FROM rowlock_lease");
                case 2 -> revoke(leases, revoked);
                default ->
                    schema.execute(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                                    + " AND query LIKE ? AND random() < 0.5",
                            "%" + schema.name() + "%rowlock_lease%");
            }
        }
        return null;
    }

    private static void revoke(Leases leases, AtomicInteger revoked) {
        if (leases.revoke("race", new By("ada", "at random"))) {
            revoked.incrementAndGet();
        }
    }
}
