package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PostgresTest
@Timeout(120)
final class LeaderIT {
    private static final By ADA = new By("ada", "test");

    private final TestSchema schema;
    private TestRowlock here;
    private TestRowlock there;
    private final AtomicInteger leading = new AtomicInteger();
    private final AtomicInteger terms = new AtomicInteger();

    LeaderIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        there = TestRowlock.beside(schema);
    }

    @AfterEach
    void end() {
        here.rowlock().leases().stop(Duration.ZERO);
        there.rowlock().leases().stop(Duration.ZERO);
    }

    private Leader leader(TestRowlock of) {
        return of.rowlock().leader(Duration.ofSeconds(2));
    }

    private void lead(Term term) {
        terms.incrementAndGet();
        leading.incrementAndGet();
        try {
            while (term.goesOn()) {
                Thread.onSpinWait();
            }
        } finally {
            leading.decrementAndGet();
        }
    }

    @Test
    void one_of_two_leads_and_the_other_when_it_stops() throws Exception {
        Candidacy first = leader(here).run("nightly-billing", this::lead);
        soon().until(first::leads);
        Candidacy second = leader(there).run("nightly-billing", this::lead);
        assertThat(second.leads()).isFalse();

        assertThat(first.stop(Duration.ofSeconds(10))).isTrue();
        soon().until(second::leads);
        assertThat(first.leads()).isFalse();
        assertThat(leading).hasValue(1);
        assertThat(schema.list(Long.class, "SELECT token FROM rowlock_lease_history ORDER BY token"))
                .hasSize(2);
        second.close();
        assertThat(leading).hasValue(0);
    }

    @Test
    void leader_whose_lease_is_revoked_is_interrupted_and_leads_again_only_after_its_task_has_ended() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Candidacy only = leader(here).run("billing", term -> {
            if (terms.incrementAndGet() == 1) {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    goOn.await();
                }
            }
            lead(term);
        });
        soon().until(only::leads);
        here.rowlock().leases().revoke("billing", ADA);
        interrupted.await();
        soon().until(() -> !only.leads());
        assertThat(schema.count("SELECT count(*) FROM rowlock_lease_history")).isOne();
        goOn.countDown();
        soon().until(only::leads);
        assertThat(schema.count("SELECT count(*) FROM rowlock_lease_history")).isEqualTo(2);
        assertThat(here.events(LoopFailed.class)).isEmpty();
    }

    @Test
    @Tag("P10")
    void task_that_throws_gives_the_lease_back_and_is_tried_again() {
        Candidacy only = leader(here).run("billing", term -> {
            if (terms.incrementAndGet() < 3) {
                throw new IllegalStateException("no paper");
            }
            lead(term);
        });
        soon().until(only::leads);
        soon().until(() -> leading.get() == 1);
        assertThat(here.events(LoopFailed.class))
                .hasSize(2)
                .allSatisfy(failed -> assertThat(failed.loop()).isEqualTo("leader-billing"));
    }

    @Test
    void task_that_does_not_end_keeps_its_lease_and_is_told_so_until_it_ends() throws Exception {
        CountDownLatch stubborn = new CountDownLatch(1);
        AtomicInteger interrupts = new AtomicInteger();
        Candidacy only = leader(here).run("billing", term -> {
            while (stubborn.getCount() > 0) {
                try {
                    stubborn.await();
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                }
            }
        });
        soon().until(only::leads);
        assertThat(here.rowlock().leases().stop(Duration.ZERO)).isFalse();
        assertThat(interrupts).hasValueGreaterThan(0);
        assertThat(there.rowlock().leases().tryTake("billing")).as("kept up").isEmpty();
        stubborn.countDown();
        soon().until(() -> there.rowlock().leases().tryTake("billing").isPresent());
    }

    @Test
    void run_once_runs_in_one_of_many_and_releases() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try {
            Future<Boolean> first = threads.submit(() -> leader(here).tryRun("billing", term -> {
                begun.countDown();
                end.await();
                try (Connection connection = schema.begin()) {
                    term.fence(connection);
                    connection.commit();
                }
            }));
            begun.await();
            assertThat(leader(there).tryRun("billing", term -> terms.incrementAndGet()))
                    .isFalse();
            assertThat(leader(here).tryRun("billing", term -> terms.incrementAndGet()))
                    .isFalse();
            end.countDown();
            assertThat(first.get()).isTrue();
            assertThat(leader(there).tryRun("billing", term -> terms.incrementAndGet()))
                    .isTrue();
            assertThat(terms).hasValue(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void run_once_says_that_its_lease_was_lost_meanwhile_and_what_the_task_threw() {
        assertThatThrownBy(() -> leader(here).tryRun("billing", term -> {
                    there.rowlock().leases().revoke("billing", ADA);
                    soon().until(() -> !term.isHeld());
                }))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("another may have begun it");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThatThrownBy(() -> leader(here).tryRun("billing", term -> {
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(there.rowlock().leases().tryTake("billing")).isPresent();
    }

    @Test
    void leader_alone_always_leads_without_a_database() throws Exception {
        Leader alone = Leader.alone();
        Candidacy candidacy = alone.run("billing", this::lead);
        soon().until(() -> leading.get() == 1);
        assertThat(candidacy.leads()).isTrue();
        assertThat(alone.tryRun("billing", term -> {
                    try (Connection connection = schema.begin()) {
                        term.fence(connection);
                        assertThat(term.goesOn()).isTrue();
                    }
                    try (Connection connection = schema.connect()) {
                        assertThatThrownBy(() -> term.fence(connection)).isInstanceOf(InvalidUseException.class);
                    }
                }))
                .isTrue();
        assertThat(candidacy.stop(Duration.ofSeconds(10))).isTrue();
        assertThat(leading).hasValue(0);
        assertThat(schema.count("SELECT count(*) FROM rowlock_lease")).isZero();
    }

    @Test
    void wrong_use_is_refused() {
        assertThatThrownBy(() -> here.rowlock().leader(Duration.ZERO)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> leader(here).run(" ", this::lead)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> leader(here).run("a", null)).isInstanceOf(InvalidUseException.class);
        assertThat(here.rowlock().leases().health().loops()).isEqualTo(List.of());
    }
}
