package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FlushModeType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.PostPersist;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Table;
import jakarta.persistence.Transient;
import jakarta.persistence.Version;
import java.sql.Savepoint;
import java.util.List;
import java.util.Optional;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Which changes of a flush make which jobs, and that jobs follow the transaction in everything. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
final class FlushedChangesIT {
    @Kind("shipped")
    record Shipped(long id, String status) {}

    @Kind("line")
    record Line(String text) {}

    @Embeddable
    static class Address {
        String city;

        Address() {}

        Address(String city) {
            this.city = city;
        }
    }

    @Entity(name = "Purchase")
    @Table(name = "purchase")
    @OutboxJob(
            kind = "purchase-changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    @OutboxJob(kind = "moved", on = Change.UPDATE, changed = "address")
    static class Purchase {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE)
        Long id;

        @Version
        int version;

        String status = "new";
        String note;

        @Embedded
        Address address = new Address();

        @OutboxJob(
                on = Change.UPDATE,
                changed = {"status"})
        Optional<Shipped> shipped() {
            return status.equals("shipped") ? Optional.of(new Shipped(id, status)) : Optional.empty();
        }

        @OutboxJob(on = Change.REMOVE)
        List<Line> lines() {
            return note == null ? List.of() : List.of(new Line(note), new Line(status));
        }
    }

    @Entity(name = "Stamped")
    @Table(name = "stamped")
    @OutboxJob(kind = "stamped-at", on = Change.UPDATE, changed = "updatedAt")
    @OutboxJob(kind = "stamped", on = Change.PERSIST)
    static class Stamped {
        @Id
        int id;

        String text;
        long updatedAt;

        @Transient
        EntityManager toQuery;

        @PreUpdate
        void stamp() {
            updatedAt++;
        }

        /** A callback that queries makes a flush in the middle of the flush. */
        @PostPersist
        void query() {
            if (toQuery != null) {
                toQuery.createQuery("select count(p) from Purchase p", Long.class)
                        .getSingleResult();
            }
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    FlushedChangesIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Purchase.class, Stamped.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM purchase; DELETE FROM stamped; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private Purchase persisted(EntityManager em) {
        Purchase purchase = new Purchase();
        em.persist(purchase);
        return purchase;
    }

    private Long stored() throws Exception {
        Long id = unit.commitAnd(em -> persisted(em).id);
        schema.execute("DELETE FROM rowlock_job");
        return id;
    }

    @Test
    void committed_entity_has_its_job_with_final_id_and_subject() throws Exception {
        Long id = unit.commitAnd(em -> persisted(em).id);
        assertThat(unit.jobs())
                .containsExactly("purchase-changed {\"entity\":\"Purchase\",\"id\":\"" + id
                        + "\",\"change\":\"PERSIST\",\"version\":\"0\"}");
        assertThat(schema.list(String.class, "SELECT subject FROM rowlock_job")).containsExactly("Purchase:" + id);
    }

    @Test
    void rolled_back_entity_has_no_job() throws Exception {
        unit.rollBack(em -> {
            persisted(em);
            em.flush();
        });
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM purchase")).isZero();
    }

    @Test
    void jobs_follow_savepoints() throws Exception {
        Long kept = unit.commitAnd(em -> {
            Long id = persisted(em).id;
            em.flush();
            em.unwrap(Session.class).doWork(connection -> {
                Savepoint savepoint = connection.setSavepoint();
                persisted(em);
                em.flush();
                connection.rollback(savepoint);
            });
            return id;
        });
        assertThat(schema.list(String.class, "SELECT subject FROM rowlock_job")).containsExactly("Purchase:" + kept);
        assertThat(schema.list(Long.class, "SELECT id FROM purchase")).containsExactly(kept);
    }

    @Test
    void persist_and_update_in_one_flush_is_one_persist() throws Exception {
        unit.commit(em -> {
            Purchase purchase = persisted(em);
            purchase.status = "shipped";
        });
        assertThat(unit.kinds()).containsExactly("purchase-changed");
        assertThat(unit.jobs().get(0)).contains("PERSIST");
    }

    @Test
    @Tag("B34")
    void persist_and_remove_in_one_flush_is_nothing() throws Exception {
        unit.commit(em -> em.remove(persisted(em)));
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    void update_in_a_later_flush_of_the_transaction_is_an_update() throws Exception {
        unit.commit(em -> {
            Purchase purchase = persisted(em);
            em.flush();
            purchase.note = "later";
            em.flush();
            purchase.status = "shipped";
        });
        assertThat(unit.kinds()).containsExactly("purchase-changed", "purchase-changed", "purchase-changed", "shipped");
    }

    @Test
    void update_makes_the_jobs_whose_attributes_changed_and_no_others() throws Exception {
        Long id = stored();
        unit.commit(em -> em.find(Purchase.class, id).note = "new");
        assertThat(unit.kinds()).containsExactly("purchase-changed");
        unit.commit(em -> em.find(Purchase.class, id).address = new Address("Ulm"));
        assertThat(unit.kinds()).containsExactly("purchase-changed", "purchase-changed", "moved");
        unit.commit(em -> em.find(Purchase.class, id).status = "shipped");
        assertThat(unit.jobs()).hasSize(5).last().isEqualTo("shipped {\"id\":" + id + ",\"status\":\"shipped\"}");
    }

    @Test
    void empty_optional_and_empty_list_make_no_job() throws Exception {
        Long id = stored();
        unit.commit(em -> em.find(Purchase.class, id).status = "packed");
        unit.commit(em -> em.remove(em.find(Purchase.class, id)));
        assertThat(unit.kinds()).containsExactly("purchase-changed", "purchase-changed");
    }

    @Test
    void list_makes_a_job_for_each_payload() throws Exception {
        Long id = stored();
        unit.commit(em -> em.find(Purchase.class, id).note = "a");
        unit.commit(em -> em.remove(em.find(Purchase.class, id)));
        assertThat(unit.jobs()).endsWith("line {\"text\":\"a\"}", "line {\"text\":\"new\"}");
    }

    @Test
    @Tag("B34")
    void update_and_remove_in_one_flush_is_a_remove_and_a_proxy_can_be_removed() throws Exception {
        Long id = stored();
        Long other = stored();
        unit.commit(em -> {
            Purchase purchase = em.find(Purchase.class, id);
            purchase.status = "shipped";
            em.remove(purchase);
            em.remove(em.getReference(Purchase.class, other));
        });
        assertThat(unit.jobs()).hasSize(2).allMatch(job -> job.contains("REMOVE"));
    }

    @Test
    void forced_version_increment_makes_no_job() throws Exception {
        Long id = stored();
        unit.commit(em -> em.find(Purchase.class, id, LockModeType.OPTIMISTIC_FORCE_INCREMENT));
        unit.commit(em -> em.find(Purchase.class, id, LockModeType.PESSIMISTIC_FORCE_INCREMENT));
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT version::bigint FROM purchase")).isEqualTo(2);
    }

    @Test
    void query_that_flushes_writes_the_jobs_too() throws Exception {
        unit.commit(em -> {
            persisted(em);
            assertThat(em.createQuery("select count(p) from Purchase p", Long.class)
                            .getSingleResult())
                    .isEqualTo(1);
            assertThat(em.createNativeQuery("SELECT count(*) FROM rowlock_job").getSingleResult())
                    .isEqualTo(1L);
        });
        assertThat(unit.kinds()).containsExactly("purchase-changed");
    }

    @Test
    void clear_after_flush_loses_nothing_and_clear_before_flush_writes_nothing() throws Exception {
        unit.commit(em -> {
            persisted(em);
            em.flush();
            em.clear();
            persisted(em);
            em.clear();
        });
        assertThat(unit.kinds()).containsExactly("purchase-changed");
        assertThat(schema.count("SELECT count(*) FROM purchase")).isEqualTo(1);
    }

    @Test
    void two_transactions_on_one_session_each_write_their_own() throws Exception {
        try (EntityManager em = unit.factory().createEntityManager()) {
            em.getTransaction().begin();
            Purchase purchase = persisted(em);
            em.getTransaction().commit();
            em.getTransaction().begin();
            purchase.note = "second";
            em.getTransaction().rollback();
            em.clear();
            em.getTransaction().begin();
            em.find(Purchase.class, purchase.id).status = "shipped";
            em.getTransaction().commit();
        }
        assertThat(unit.kinds()).containsExactly("purchase-changed", "purchase-changed", "shipped");
    }

    @Test
    void commit_mode_still_writes_at_commit() throws Exception {
        unit.commit(em -> {
            em.setFlushMode(FlushModeType.COMMIT);
            persisted(em);
        });
        assertThat(unit.kinds()).containsExactly("purchase-changed");
    }

    @Test
    void merged_detached_entity_is_an_update() throws Exception {
        Long id = stored();
        Purchase detached = unit.commitAnd(em -> em.find(Purchase.class, id));
        detached.status = "shipped";
        unit.commit(em -> em.merge(detached));
        assertThat(unit.kinds()).containsExactly("purchase-changed", "shipped");
    }

    @Test
    void attribute_that_a_callback_changes_counts_as_changed() throws Exception {
        unit.commit(em -> {
            Stamped stamped = new Stamped();
            em.persist(stamped);
            em.flush();
            stamped.text = "changed";
        });
        assertThat(unit.kinds()).containsExactly("stamped", "stamped-at");
    }

    @Test
    void callback_that_queries_in_the_middle_of_the_flush_loses_no_job() throws Exception {
        unit.commit(em -> {
            for (int i = 0; i < 5; i++) {
                Stamped stamped = new Stamped();
                stamped.id = i;
                stamped.toQuery = i == 2 ? em : null;
                em.persist(stamped);
            }
        });
        assertThat(schema.count("SELECT count(*) FROM stamped")).isEqualTo(5);
        assertThat(unit.kinds()).hasSize(5);
    }
}
