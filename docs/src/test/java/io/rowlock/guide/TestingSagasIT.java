package io.rowlock.guide;

// tag::test
import static io.rowlock.testkit.saga.SagaAssertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.saga.SagaDriver;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@PostgresTest // this class gets a schema of its own on a real PostgreSQL
class TestingSagasIT {
    record Trip(String to) {}

    static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    static final SagaSignal<String> VISA = SagaSignal.named("visa", String.class);

    /** What your application has; its services are stand-ins here. */
    static class TripSaga implements SagaDefinition<Trip> {
        boolean flightsAreFull;

        @Override
        public Saga<Trip> define(SagaBuilder<Trip> saga) {
            return saga.named(TRIP.name(), TRIP.stateType())
                    .version(1)
                    .step("book-room")
                    .call((trip, step) -> trip)
                    .compensate((trip, step) -> {})
                    .await(VISA, (trip, number) -> trip)
                    .within(Duration.ofDays(30))
                    .otherwise(Escalation.fail())
                    .step("book-flight")
                    .call((trip, step) -> {
                        if (flightsAreFull) {
                            throw new PermanentFailure("no seat to " + trip.to());
                        } else if (step.attempt() == 1) {
                            throw new IllegalStateException("the airline is busy");
                        }
                        return trip;
                    })
                    .noCompensation()
                    .retry(RetryPolicy.fixed(Duration.ofHours(1)))
                    .build();
        }
    }

    private final TripSaga definition = new TripSaga();
    private final Rowlock rowlock;
    private final SagaEngine engine;

    TestingSagasIT(TestSchema schema) {
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        this.engine = SagaEngine.builder(rowlock).register(definition).build();
        rowlock.schema().install();
    }

    @Test
    void a_trip_is_booked_when_the_visa_has_come() {
        try (SagaDriver driver = SagaDriver.of(rowlock, engine)) {
            driver.start(TRIP, "trip-1", new Trip("Rome"));
            assertThat(driver.run("trip-1")).waitsAt("visa").hasDone("book-room"); // runs on this thread
            driver.signal(VISA, SagaTarget.saga("trip-1"), "V-7");
            assertThat(driver.timeline("trip-1")).waitsAt("book-flight").failedWith("book-flight", "busy");
            assertThat(driver.jump("trip-1")) // no need to wait for an hour
                    .isCompleted()
                    .hasDone("book-room", "visa", "book-flight")
                    .hasAttempts("book-flight", 2);
        }
    }

    @Test
    void without_a_visa_in_time_the_room_is_given_back() {
        try (SagaDriver driver = SagaDriver.of(rowlock, engine)) {
            driver.start(TRIP, "trip-2", new Trip("Oslo"));
            driver.run("trip-2");
            assertThat(driver.jump("trip-2")) // 30 days later
                    .isCompensated()
                    .hasUndone("book-room")
                    .hasNotBegun("book-flight");
        }
    }

    @Test
    void without_a_seat_the_room_is_given_back() {
        definition.flightsAreFull = true;
        try (SagaDriver driver = SagaDriver.of(rowlock, engine)) {
            driver.start(TRIP, "trip-3", new Trip("Bergen"));
            driver.signal(VISA, SagaTarget.saga("trip-3"), "V-8"); // may come early
            assertThat(driver.run("trip-3"))
                    .isCompensated()
                    .because("no seat to Bergen")
                    .hasUndone("book-room");
        }
    }
}
// end::test
