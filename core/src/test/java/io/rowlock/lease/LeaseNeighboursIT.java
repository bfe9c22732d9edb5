package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.Rowlock;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one lease, its listeners and its fences do must not hold up another, nor the person who takes it away. */
@PostgresTest
@Timeout(120)
@Tag("P10")
final class LeaseNeighboursIT {
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final By ADA = new By("ada", "it hangs");

    private final TestSchema schema;

    LeaseNeighboursIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        TestRowlock.fresh(schema);
    }

    private long renewedUntil(String lease) throws SQLException {
        return schema.count(
                "SELECT (extract(epoch FROM expires_at) * 1000)::bigint FROM rowlock_lease WHERE name = ?", lease);
    }

    @Test
    @Tag("P3")
    void lease_is_revoked_beside_an_open_fence_and_taken_when_that_has_ended() throws Exception {
        Rowlock here = TestRowlock.beside(schema).rowlock();
        Lease lease = here.leases().tryTake("import", Duration.ofMinutes(1)).orElseThrow();
        try (Connection fenced = schema.begin();
                Connection late = schema.begin()) {
            lease.fence(fenced);
            assertThat(here.leases().revoke("import", ADA)).isTrue();
            assertThat(here.leases().revoke("import", ADA)).isFalse();
            Fence old = here.leases().fence("import", lease.token());
            assertThat(catchThrowable(() -> old.fence(late))).isInstanceOf(LeaseLostException.class);
            assertThat(here.leases().tryTake("import", SHORT))
                    .as("while what was fenced before may still commit")
                    .isEmpty();
            fenced.commit();
        }
        Lease next = here.leases().tryTake("import", SHORT).orElseThrow();
        assertThat(next.token()).isGreaterThan(lease.token());
        here.leases().stop(Duration.ZERO);
    }

    @Test
    void listener_that_hangs_over_a_lost_lease_costs_no_other() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        AtomicBoolean told = new AtomicBoolean();
        Rowlock here = TestRowlock.beside(
                        schema,
                        builder -> builder.listener(event -> {
                            if (event instanceof NamedLeaseLost) {
                                told.set(true);
                                uninterruptibly(over);
                            }
                        }))
                .rowlock();
        assertThat(here.leases().tryTake("one", SHORT)).isPresent();
        Lease other = here.leases().tryTake("other", SHORT).orElseThrow();
        here.leases().revoke("one", ADA);
        soon().until(told::get);
        long before = renewedUntil("other");
        soon().until(() -> renewedUntil("other") > before + 3 * SHORT.toMillis());
        assertThat(other.isHeld()).isTrue();
        over.countDown();
        here.leases().stop(Duration.ZERO);
    }

    private static void uninterruptibly(CountDownLatch over) {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Tag("B23")
    void candidate_that_was_told_to_stop_while_it_took_the_lease_begins_nothing() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch connecting = new CountDownLatch(1);
        CountDownLatch connected = new CountDownLatch(1);
        Rowlock here = Rowlock.builder()
                .schema(schema.name())
                .connections(() -> {
                    connecting.countDown();
                    uninterruptibly(connected);
                    return schema.connect();
                })
                .build();
        Candidacy candidacy = here.leader().run("late", term -> begun.incrementAndGet());
        connecting.await();
        candidacy.stop(Duration.ZERO);
        connected.countDown();
        soon().until(() -> schema.count("SELECT count(*) FROM rowlock_lease_history WHERE ended = 'released'") == 1);
        assertThat(begun).hasValue(0);
    }
}
