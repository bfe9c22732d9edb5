package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.guide.TripSaga.Trip;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

@PostgresTest
class SagaTutorialIT {
    /** A hotel with books of its own. */
    private static final class Rooms implements TripSaga.Hotel {
        private final Set<String> booked = ConcurrentHashMap.newKeySet();

        @Override
        public String book(String key) {
            booked.add(key);
            return "room " + key.length();
        }

        @Override
        public void cancel(String key) {
            booked.remove(key);
        }
    }

    /** An airline that refuses on demand. */
    private static final class Seats implements TripSaga.Airline {
        private volatile boolean full;
        private volatile boolean refusesTickets;

        @Override
        public String reserve(String key) {
            if (full) {
                throw new PermanentFailure("no seat left");
            }
            return "seat 12A";
        }

        @Override
        public void release(String key) {}

        @Override
        public void buy(String seat, String key) {
            if (refusesTickets) {
                throw new PermanentFailure("the card has expired");
            }
        }
    }

    private final Rooms hotel = new Rooms();
    private final Seats airline = new Seats();

    @Test
    void from_nothing_to_sagas_that_complete_are_undone_and_are_resolved(TestSchema schema) throws Exception {
        DataSource dataSource = schema.dataSource();
        // tag::engine
        Rowlock rowlock =
                Rowlock.builder().dataSource(dataSource).schema(schema.name()).build();
        rowlock.schema().install();
        SagaEngine engine = SagaEngine.builder(rowlock)
                .register(new TripSaga(hotel, airline))
                .build();
        Worker worker = rowlock.worker(engine::on);
        worker.start();
        // end::engine
        try (worker) {
            // tag::start
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                // ... your own rows ...
                engine.sagas().start(connection, TripSaga.TYPE, "trip-1", new Trip(1, "", ""));
                connection.commit();
            }
            // end::start
            reaches(engine, "trip-1", SagaStatus.COMPLETED);
            // tag::look
            SagaView trip = engine.operations().get("trip-1").orElseThrow();
            System.out.println(trip.status());
            System.out.println(
                    engine.operations().timeline("trip-1").orElseThrow().toText());
            // end::look
            assertThat(trip.status()).isEqualTo(SagaStatus.COMPLETED);
            undone(dataSource, engine);
            resolved(dataSource, engine);
        }
    }

    private void undone(DataSource dataSource, SagaEngine engine) throws Exception {
        airline.full = true;
        start(dataSource, engine, 2);
        reaches(engine, "trip-2", SagaStatus.COMPENSATED);
        assertThat(hotel.booked).hasSize(1); // that of trip 1
        airline.full = false;
    }

    private void resolved(DataSource dataSource, SagaEngine engine) throws Exception {
        airline.refusesTickets = true;
        start(dataSource, engine, 3);
        reaches(engine, "trip-3", SagaStatus.STUCK);
        // tag::resolve
        for (SagaView stuck :
                engine.operations().find(SagaQuery.all().needsPerson()).sagas()) {
            System.out.println(stuck.id() + ": " + stuck.course().reason());
        }
        By ann = new By("ann", "INC-12: paid with another card, at the counter");
        SagaAnswer answer = engine.operations().resolve("trip-3", "buy-ticket", null, ann);
        // end::resolve
        assertThat(answer).isEqualTo(SagaAnswer.DONE);
        reaches(engine, "trip-3", SagaStatus.COMPLETED);
    }

    private static void start(DataSource dataSource, SagaEngine engine, long number) throws Exception {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            engine.sagas().start(connection, TripSaga.TYPE, "trip-" + number, new Trip(number, "", ""));
            connection.commit();
        }
    }

    private static void reaches(SagaEngine engine, String id, SagaStatus status) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> engine.operations().get(id).orElseThrow().status() == status);
    }
}
