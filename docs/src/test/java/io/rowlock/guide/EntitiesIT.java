package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChanged;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

@PostgresTest
class EntitiesIT {
    @Kind("parcel-shipped")
    public record ParcelShipped(long parcel) {}

    // tag::entities
    @Entity(name = "Parcel")
    @Table(name = "parcels")
    public static class Parcel {
        @Id
        @GeneratedValue
        private Long id;

        private String status = "packed";
        private String note = "";

        @OutboxJob(on = Change.UPDATE, changed = "status")
        Optional<ParcelShipped> shipped() {
            return status.equals("shipped") ? Optional.of(new ParcelShipped(id)) : Optional.empty();
        }

        void ship() {
            status = "shipped";
        }

        void note(String text) {
            note = text;
        }
    }

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

    // end::entities

    private final TestSchema schema;

    EntitiesIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void entities_make_jobs() throws SQLException {
        try (EntityManagerFactory emf = Units.start(schema, Parcel.class, Customer.class)) {
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .schema(schema.name())
                    .build();
            rowlock.schema().install();
            Parcel parcel = new Parcel();
            emf.runInTransaction(em -> em.persist(parcel));
            emf.runInTransaction(em -> em.merge(parcel).note("fragile"));
            assertThat(rowlock.jobs()).hasNone(ParcelShipped.class);
            emf.runInTransaction(em -> em.find(Parcel.class, parcel.id).ship());
            assertThat(rowlock.jobs()).hasOne(ParcelShipped.class).isAbout("Parcel:" + parcel.id);

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
            byHand(rowlock, emf);
        }
    }

    private static void byHand(Rowlock rowlock, EntityManagerFactory emf) {
        // tag::by-hand
        JpaOutbox outbox = JpaOutbox.of(rowlock);
        emf.runInTransaction(em -> {
            List<Long> ids = em.createQuery("select p.id from Parcel p where p.note <> ''", Long.class)
                    .getResultList();
            em.createQuery("update Parcel p set p.status = 'shipped' where p.id in :ids")
                    .setParameter("ids", ids)
                    .executeUpdate(); // makes no job by itself
            ids.forEach(id -> outbox.enqueue(em, new ParcelShipped(id), job -> job.subject("Parcel:" + id)));
        });
        // end::by-hand
        assertThat(rowlock.jobs()).hasCount("parcel-shipped", 2);
    }
}
