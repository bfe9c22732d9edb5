package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobState;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChanged;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

@PostgresTest
class EntitiesIT {
    // tag::customer
    @Entity(name = "Customer")
    @Table(name = "customers")
    @OutboxJob(
            kind = "customer-changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Customer {
        @Id
        private String id;

        private String name;

        protected Customer() {}

        public Customer(String id, String name) {
            this.id = id;
            this.name = name;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    // end::customer

    private final TestSchema schema;
    private final List<Long> told = new CopyOnWriteArrayList<>();

    EntitiesIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void entities_make_jobs() throws SQLException {
        try (EntityManagerFactory emf = Units.start(schema, Parcel.class, Customer.class)) {
            Rowlock rowlock = ship(schema.dataSource(), emf);
            await().until(() -> rowlock.jobs().ofKind("parcel-shipped").get(0).state() == JobState.COMPLETED);
            assertThat(rowlock.jobs()).hasOne(Parcel.Shipped.class).isAbout("Parcel:" + told.get(0));
            assertThat(told).hasSize(1);
            customers(rowlock, emf);
            byHand(rowlock, emf);
        }
    }

    private Rowlock ship(DataSource dataSource, EntityManagerFactory emf) {
        Parcel parcel = new Parcel();
        // tag::start
        Rowlock rowlock = Rowlock.builder()
                .dataSource(dataSource) // of the persistence unit's database
                .persistenceUnit(emf) // reads the unit's settings, wakes workers after each commit
                .build();
        rowlock.schema().install(); // or run rowlock.schema().script(0) with your migrations

        Worker worker = rowlock.worker(w ->
                w.queue("default", 8).handle(Parcel.Shipped.class, (shipped, job) -> tellCustomer(shipped.parcel())));
        worker.start();

        emf.runInTransaction(em -> em.persist(parcel)); // no job: its annotation names UPDATE alone
        emf.runInTransaction(em -> em.find(Parcel.class, parcel.id()).note("fragile")); // no job: not the status
        emf.runInTransaction(em -> em.find(Parcel.class, parcel.id()).ship()); // the row and its job, or neither
        // end::start
        await().until(() -> !told.isEmpty());
        worker.stop(Duration.ofSeconds(10));
        return rowlock;
    }

    private void tellCustomer(long parcel) {
        told.add(parcel);
    }

    private static void customers(Rowlock rowlock, EntityManagerFactory emf) {
        emf.runInTransaction(em -> em.persist(new Customer("c1", "Ada")));
        List<EntityChanged> seen = new ArrayList<>();
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(
                w ->
                        // tag::entity-changed
                        w.handle(
                                JobKind.named("customer-changed", EntityChanged.class),
                                (change, job) -> seen.add(change)) // entity, id, change, version
                // end::entity-changed
                )) {
            worker.drain();
        }
        assertThat(seen).containsExactly(new EntityChanged("Customer", "c1", Change.PERSIST, null));
    }

    private static void byHand(Rowlock rowlock, EntityManagerFactory emf) {
        emf.runInTransaction(em -> em.persist(new Parcel()));
        // tag::by-hand
        JpaOutbox outbox = JpaOutbox.of(rowlock); // make it once, keep it
        emf.runInTransaction(em -> {
            List<Long> ids = em.createQuery("select p.id from Parcel p where p.status = 'packed'", Long.class)
                    .getResultList();
            em.createQuery("update Parcel p set p.status = 'shipped' where p.id in :ids")
                    .setParameter("ids", ids)
                    .executeUpdate(); // makes no job by itself
            ids.forEach(id -> outbox.enqueue(em, new Parcel.Shipped(id), job -> job.subject("Parcel:" + id)));
        });
        // end::by-hand
        assertThat(rowlock.jobs()).hasCount("parcel-shipped", 2);
    }
}
