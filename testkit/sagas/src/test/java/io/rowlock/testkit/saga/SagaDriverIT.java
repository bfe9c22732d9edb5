package io.rowlock.testkit.saga;

import static io.rowlock.saga.Branch.branch;
import static io.rowlock.testkit.saga.SagaAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class SagaDriverIT {
    private static final SagaType<Trip> KID = SagaType.named("kid", Trip.class);
    private static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final RetryPolicy DAILY = RetryPolicy.fixed(Duration.ofDays(1));

    private final List<String> done = new ArrayList<>();
    private final Rowlock rowlock;
    private SagaDriver driver;

    record Trip(String to) {}

    SagaDriverIT(TestSchema schema) {
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @BeforeEach
    void empty(TestSchema schema) throws SQLException {
        schema.execute("TRUNCATE rowlock_job, rowlock_saga, rowlock_saga_step, rowlock_saga_signal, rowlock_operation");
    }

    @AfterEach
    void close() {
        driver.close();
    }

    private void begin(SagaDefinition<Trip> definition) {
        driver = SagaDriver.of(
                rowlock, SagaEngine.builder(rowlock).register(definition).build());
        driver.start(TRIP, "1", new Trip("Rome"));
    }

    private Trip deed(Trip trip, String what) {
        done.add(what);
        return trip;
    }

    @Test
    void a_saga_runs_until_it_has_ended_and_not_before_it_is_told_to() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> deed(trip, "a"))
                .noCompensation()
                .step("b")
                .call((trip, step) -> deed(trip, "b"))
                .noCompensation()
                .build());
        assertThat(driver.timeline("1")).isRunning().hasNotBegun("a").hasDone();
        assertThat(done).isEmpty();

        assertThat(driver.run("1")).isCompleted().hasDone("a", "b").hasAttempts("b", 1);
        assertThat(driver.runAll()).isZero();
    }

    @Test
    void it_jumps_over_retries_sleeps_and_waits_one_after_the_other() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> {
                    if (step.attempt() == 1) {
                        throw new IllegalStateException("not yet");
                    }
                    return trip;
                })
                .noCompensation()
                .retry(DAILY)
                .sleep("nap", Duration.ofDays(2))
                .await(PAID, (trip, sum) -> trip)
                .within(Duration.ofDays(3))
                .otherwise(Escalation.continueWith(trip -> trip))
                .build());
        assertThat(driver.run("1")).waitsAt("a").hasAttempts("a", 1).failedWith("a", "not yet");
        assertThat(driver.jump("1")).waitsAt("nap").hasAttempts("a", 2);
        assertThat(driver.jump("1")).waitsAt("paid");
        assertThat(driver.jump("1")).isCompleted().hasDone("a", "nap", "paid");
        assertThatThrownBy(() -> driver.jump("1"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("no time to jump to");
    }

    @Test
    void one_that_waits_for_a_child_says_so() {
        SagaDefinition<Trip> parent = saga -> saga.named("trip", Trip.class)
                .version(1)
                .child("kid", KID)
                .startedWith(trip -> trip)
                .completed((trip, kid) -> kid)
                .noCompensation()
                .build();
        SagaDefinition<Trip> kid = saga -> saga.named("kid", Trip.class)
                .version(1)
                .sleep("nap", Duration.ofDays(2))
                .build();
        driver = SagaDriver.of(
                rowlock,
                SagaEngine.builder(rowlock).register(parent).register(kid).build());
        driver.start(TRIP, "1", new Trip("Rome"));
        driver.run("1");
        assertThatThrownBy(() -> driver.jump("1"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("it waits for [1/kid], jump there");
        assertThat(driver.jump("1/kid")).isCompleted();
        assertThat(driver.timeline("1")).isCompleted();
    }

    @Test
    void a_wait_that_was_given_up_is_not_jumped_to_before_the_retry_of_an_undo() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .deadline(Duration.ofSeconds(30))
                .step("a")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> {
                    if (step.attempt() == 1) {
                        throw new IllegalStateException("not yet");
                    }
                    done.add("undo a");
                })
                .retryCompensation(DAILY)
                .await(PAID, (trip, sum) -> trip)
                .within(Duration.ofMinutes(1))
                .otherwise(Escalation.escalate())
                .build());
        driver.run("1");
        driver.jumpToDeadline("1");
        assertThat(done).isEmpty();
        assertThat(driver.jump("1")).isCompensated();
        assertThat(done).containsExactly("undo a");
        assertThatThrownBy(() -> assertThat(driver.timeline("1")).waitsAt("paid"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("but it is compensated");
    }

    @Test
    void of_several_waits_the_earliest_alone_is_jumped_to() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .parallel(
                        "both",
                        branch("slow", chain -> chain.sleep("year", Duration.ofDays(365))),
                        branch("fast", chain -> chain.sleep("day", Duration.ofDays(1))))
                .join((trip, results) -> trip)
                .build());
        driver.run("1");
        assertThat(driver.jump("1")).hasStep("day", StepStatus.COMPLETED).waitsAt("year");
        assertThat(driver.jump("1")).isCompleted().hasDone("day", "year", "both");
    }

    @Test
    void a_signal_is_brought_at_once() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .await(PAID, (trip, sum) -> deed(trip, "paid " + sum))
                .within(Duration.ofDays(3))
                .otherwise(Escalation.escalate())
                .build());
        assertThat(driver.run("1")).waitsAt("paid");
        driver.signal(PAID, SagaTarget.saga("1"), 7);
        assertThat(driver.timeline("1")).isCompleted();
        assertThat(done).containsExactly("paid 7");
    }

    @Test
    void compensations_are_seen_in_their_order() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> {
                    if (step.attempt() == 1) {
                        throw new IllegalStateException("not yet undone");
                    }
                })
                .retryCompensation(DAILY)
                .step("b")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> done.add("undo b"))
                .step("c")
                .call((trip, step) -> {
                    throw new PermanentFailure("no room");
                })
                .noCompensation()
                .build());
        assertThat(driver.run("1"))
                .hasStep("a", StepStatus.COMPENSATING)
                .hasUndone("b")
                .failedWith("a", "not yet undone");
        assertThat(driver.jump("1"))
                .isCompensated()
                .hasUndone("b", "a")
                .hasCompensationAttempts("a", 2)
                .because("no room")
                .hasStep("c", StepStatus.FAILED)
                .hasDone();
    }

    @Test
    void a_deadline_that_is_jumped_to_turns_the_saga_around() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .deadline(Duration.ofDays(30))
                .step("a")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> done.add("undo a"))
                .sleep("long", Duration.ofDays(20))
                .step("b")
                .call((trip, step) -> trip)
                .noCompensation()
                .build());
        assertThat(driver.run("1")).waitsAt("long");
        assertThat(driver.jumpToDeadline("1"))
                .isCompensated()
                .because("deadline")
                .hasUndone("a")
                .hasNotBegun("b");
        assertThatThrownBy(() -> driver.jumpToDeadline("1")).hasMessageContaining("no deadline");
    }

    @Test
    void a_failed_pivot_is_stuck() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .pivot("a")
                .call((trip, step) -> {
                    throw new PermanentFailure("no");
                })
                .build());
        assertThat(driver.run("1")).isStuck().hasStep("a", StepStatus.FAILED);
    }

    @Test
    void assertions_that_fail_show_the_timeline() {
        begin(saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> {})
                .step("b")
                .call((trip, step) -> trip)
                .compensate((trip, step) -> {})
                .build());
        SagaTimeline timeline = driver.run("1");
        fails(() -> assertThat(timeline).isCompensated(), "Expected a saga that is compensated");
        fails(() -> assertThat(timeline).hasDone("b", "a"), "done: [b, a], found [a, b]");
        fails(() -> assertThat(timeline).hasUndone("b"), "undone: [b], found []");
        fails(() -> assertThat(timeline).hasAttempts("a", 2), "2 attempts of step a, found 1");
        fails(() -> assertThat(timeline).hasCompensationAttempts("a", 2), "found 0");
        fails(() -> assertThat(timeline).hasStep("a", StepStatus.FAILED), "it is completed");
        fails(() -> assertThat(timeline).hasStep("c", StepStatus.FAILED), "step c has begun");
        fails(() -> assertThat(timeline).hasNotBegun("a"), "step a has not begun");
        fails(() -> assertThat(timeline).waitsAt("a"), "which is completed");
        fails(() -> assertThat(timeline).failedWith("a", "x"), "found <null>");
        fails(() -> assertThat(timeline).because("x"), "got <null>");
        assertThatThrownBy(() -> driver.run("2")).isInstanceOf(InvalidUseException.class);
    }

    private static void fails(Runnable assertion, String words) {
        assertThatThrownBy(assertion::run)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(words)
                .hasMessageContaining("saga 1 (trip v1): completed");
    }
}
