package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.PostPersist;
import jakarta.persistence.Table;
import jakarta.persistence.Transient;
import jakarta.transaction.Synchronization;
import java.util.List;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.engine.spi.SessionImplementor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs follow their rows through what a Session does, in and beside its flushes. */
@Corner("Sessions")
@Tag("P1")
final class SessionsIT extends ProviderTest {
    @Entity(name = "Order")
    @Table(name = "orders")
    @OutboxJob(
            kind = "order",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Order {
        @Id
        int id;

        int code;

        @Transient
        EntityManager toQuery;

        Order() {}

        Order(int id) {
            this.id = id;
        }

        /** A callback that queries makes a flush in the middle of the flush. */
        @PostPersist
        void query() {
            if (toQuery != null) {
                toQuery.createQuery("select count(n) from Note n", Long.class).getSingleResult();
            }
        }
    }

    /** Its insert comes before the flush. */
    @Entity(name = "Note")
    @Table(name = "note")
    @OutboxJob(
            kind = "note",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Note {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        @ManyToOne(cascade = CascadeType.PERSIST)
        Note parent;
    }

    SessionsIT(TestSchema schema) {
        super(schema, Order.class, Note.class);
    }

    private static void manual(EntityManager em) {
        em.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
    }

    private long notes() throws Exception {
        return schema.count("SELECT count(*) FROM note");
    }

    @Test
    @Corner("FlushMode.MANUAL: the jobs of what is flushed by hand, no others")
    void manual_flush() throws Exception {
        unit.commit(em -> {
            manual(em);
            em.persist(new Order(1));
            em.flush();
            em.persist(new Order(2));
        });
        assertThat(changes()).containsExactly("Order 1 PERSIST");
    }

    @Test
    @Corner("FlushMode.MANUAL and IDENTITY: row and job, without a flush")
    void manual_identity() throws Exception {
        Note note = new Note();
        unit.commit(em -> {
            manual(em);
            em.persist(note);
        });
        assertThat(changes()).containsExactly("Note " + note.id + " PERSIST");
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    @Corner("IDENTITY: row and job when persist returns")
    @Tag("B34")
    void identity() throws Exception {
        unit.commit(em -> {
            em.persist(new Note());
            assertThat(em.createNativeQuery("SELECT count(*) FROM rowlock_job").getSingleResult())
                    .isEqualTo(1L);
        });
        assertThat(kinds()).containsExactly("note");
    }

    @Test
    @Corner("IDENTITY, cascaded by a flush: PERSIST of the new, UPDATE of the old")
    @Tag("B34")
    void identity_cascaded() throws Exception {
        Note stored = new Note();
        unit.commit(em -> em.persist(stored));
        Note parent = new Note();
        assertThat(changesBy(em -> em.find(Note.class, stored.id).parent = parent))
                .containsExactlyInAnyOrder("Note " + parent.id + " PERSIST", "Note " + stored.id + " UPDATE");
    }

    @Test
    @Corner("IDENTITY, removed before the flush: both jobs, as of its row")
    @Tag("B34")
    void identity_removed() throws Exception {
        Note note = new Note();
        unit.commit(em -> {
            em.persist(note);
            em.remove(note);
        });
        assertThat(changes()).containsExactly("Note " + note.id + " PERSIST", "Note " + note.id + " REMOVE");
    }

    @Test
    @Corner("a callback that queries in the middle of a flush: a job each")
    void query_in_a_callback() throws Exception {
        unit.commit(em -> {
            for (int id = 1; id <= 5; id++) {
                Order order = new Order(id);
                order.toQuery = id == 3 ? em : null;
                em.persist(order);
            }
        });
        assertThat(changes())
                .containsExactly(
                        "Order 1 PERSIST",
                        "Order 2 PERSIST",
                        "Order 3 PERSIST",
                        "Order 4 PERSIST",
                        "Order 5 PERSIST");
    }

    @Test
    @Corner("a read-only entity or session: no UPDATE")
    void read_only() throws Exception {
        unit.commit(em -> em.persist(new Order(1)));
        assertThat(changesBy(em -> {
                    Order order = em.find(Order.class, 1);
                    em.unwrap(Session.class).setReadOnly(order, true);
                    order.code = 2;
                    em.persist(new Order(2));
                }))
                .containsExactly("Order 2 PERSIST");
        assertThat(changesBy(em -> {
                    em.unwrap(Session.class).setDefaultReadOnly(true);
                    em.find(Order.class, 1).code = 2;
                }))
                .isEmpty();
        assertThat(schema.count("SELECT count(*) FROM orders WHERE code = 2")).isZero();
    }

    private static Synchronization synchronization(Runnable before, Runnable after) {
        return new Synchronization() {
            @Override
            public void beforeCompletion() {
                before.run();
            }

            @Override
            public void afterCompletion(int status) {
                after.run();
            }
        };
    }

    private static void register(EntityManager em, Synchronization synchronization) {
        em.unwrap(SessionImplementor.class)
                .getTransactionCoordinator()
                .getLocalSynchronizations()
                .registerSynchronization(synchronization);
    }

    @Test
    @Corner("changed and flushed by a late synchronization: its jobs")
    void late_flush() throws Exception {
        unit.commit(em -> register(
                em,
                synchronization(
                        () -> {
                            register(em, synchronization(() -> {}, () -> {}));
                            em.persist(new Note());
                            em.persist(new Order(1));
                            em.flush();
                        },
                        () -> {})));
        assertThat(kinds()).containsExactly("note", "order");
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    @Corner("changed after completion: never a row without its job")
    @Tag("B03")
    void after_completion() throws Exception {
        EntityManager em = unit.factory().createEntityManager();
        try (em) {
            em.getTransaction().begin();
            register(
                    em,
                    synchronization(() -> {}, () -> List.<Runnable>of(() -> em.persist(new Note()), em::flush)
                            .forEach(SessionsIT::swallowing)));
            em.getTransaction().commit();
            assertThat(notes()).isZero();
            assertThat(kinds()).isEmpty();
            em.getTransaction().begin();
            em.getTransaction().commit();
        }
        assertThat(kinds()).hasSize((int) notes());
    }

    /** Runs what may throw, where only what is left in the database matters. */
    private static void swallowing(Runnable work) {
        assertThatCode(work::run)
                .satisfiesAnyOf(
                        thrown -> assertThat(thrown).isNull(),
                        thrown -> assertThat(thrown).isInstanceOf(RuntimeException.class));
    }
}
