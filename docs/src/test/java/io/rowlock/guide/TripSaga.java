package io.rowlock.guide;

// tag::definition
import static io.rowlock.job.RetryPolicy.exponential;
import static java.time.Duration.ofSeconds;

import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaType;

final class TripSaga implements SagaDefinition<TripSaga.Trip> {
    static final SagaType<Trip> TYPE = SagaType.named("trip", Trip.class);

    /** The state: what is known so far. Each step returns a new one. */
    record Trip(long number, String room, String seat) {
        Trip inRoom(String now) {
            return new Trip(number, now, seat);
        }

        Trip onSeat(String now) {
            return new Trip(number, room, now);
        }
    }

    private final Hotel hotel;
    private final Airline airline;

    TripSaga(Hotel hotel, Airline airline) {
        this.hotel = hotel;
        this.airline = airline;
    }

    @Override
    public Saga<Trip> define(SagaBuilder<Trip> saga) {
        return saga.named("trip", Trip.class)
                .version(1)
                .businessKey(trip -> "Trip:" + trip.number())
                .step("book-room")
                .call((trip, step) -> trip.inRoom(hotel.book(step.key())))
                .compensate((trip, step) -> hotel.cancel(step.key("book-room")))
                .step("reserve-seat")
                .call((trip, step) -> trip.onSeat(airline.reserve(step.key())))
                .compensate((trip, step) -> airline.release(step.key("reserve-seat")))
                .retry(exponential(ofSeconds(1)).maxAttempts(5))
                .timeout(ofSeconds(20))
                .pivot("buy-ticket") // no way back from here
                .call((trip, step) -> {
                    airline.buy(trip.seat(), step.key());
                    return trip;
                })
                .build();
    }

    /** Its services: each remembers the keys it was called with, so that a repeated call does nothing new. */
    interface Hotel {
        String book(String key);

        void cancel(String key);
    }

    /** Another one. */
    interface Airline {
        String reserve(String key);

        void release(String key);

        void buy(String seat, String key);
    }
}
// end::definition
