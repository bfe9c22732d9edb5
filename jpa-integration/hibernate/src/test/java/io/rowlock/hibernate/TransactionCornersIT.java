package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.Savepoint;
import java.util.List;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Jobs follow their rows through flush modes, savepoints, nested and failed transactions. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
final class TransactionCornersIT {
    @Entity(name = "Order")
    @Table(name = "orders")
    @OutboxJob(
            kind = "order",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Order {
        @Id
        int id;

        int code;

        Order() {}

        Order(int id, int code) {
            this.id = id;
            this.code = code;
        }
    }

    @Entity(name = "Stamp")
    @Table(name = "stamp")
    @OutboxJob(
            kind = "stamp",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Stamp {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
    }

    private final TestSchema schema;
    private final TestUnit unit;

    TransactionCornersIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Order.class, Stamp.class);
    }

    @BeforeAll
    void start() throws Exception {
        TestUnit.install(schema);
        unit.factory();
        schema.execute("ALTER TABLE orders ADD CONSTRAINT one_code UNIQUE (code) DEFERRABLE INITIALLY DEFERRED");
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM orders");
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private List<String> changes() throws Exception {
        return schema.list(
                String.class, "SELECT (payload->>'id') || ' ' || (payload->>'change') FROM rowlock_job ORDER BY id");
    }

    @Test
    void manual_flush_mode_writes_what_is_flushed_and_nothing_else() throws Exception {
        unit.commit(em -> {
            em.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
            em.persist(new Order(1, 1));
            em.flush();
            em.persist(new Order(2, 2));
        });
        assertThat(changes()).containsExactly("1 PERSIST");
    }

    @Test
    void commit_that_fails_leaves_no_job_and_the_session_goes_on() throws Exception {
        try (EntityManager em = unit.factory().createEntityManager()) {
            em.getTransaction().begin();
            em.persist(new Order(1, 7));
            em.persist(new Order(2, 7));
            assertThatThrownBy(em.getTransaction()::commit).hasStackTraceContaining("one_code");
            if (em.getTransaction().isActive()) {
                em.getTransaction().rollback();
            }
            assertThat(changes()).isEmpty();
            em.clear();
            em.getTransaction().begin();
            em.persist(new Order(3, 7));
            em.getTransaction().commit();
        }
        assertThat(changes()).containsExactly("3 PERSIST");
    }

    @Test
    void read_only_transaction_writes_neither_row_nor_job() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.createNativeQuery("SET TRANSACTION READ ONLY").executeUpdate();
                    em.persist(new Order(1, 1));
                }))
                .hasStackTraceContaining("read-only transaction");
        assertThat(changes()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM orders")).isZero();
    }

    @Test
    void read_only_entity_of_a_writing_session_makes_no_job() throws Exception {
        unit.commit(em -> em.persist(new Order(1, 1)));
        unit.commit(em -> {
            Order order = em.find(Order.class, 1);
            em.unwrap(Session.class).setReadOnly(order, true);
            order.code = 2;
            em.persist(new Order(2, 3));
        });
        assertThat(changes()).containsExactly("1 PERSIST", "2 PERSIST");
    }

    @Test
    @Tag("B26")
    void savepoint_rolled_back_takes_the_jobs_of_its_part_along() throws Exception {
        unit.commit(em -> {
            em.persist(new Order(1, 1));
            em.flush();
            em.unwrap(Session.class).doWork(connection -> nested(em, connection));
            em.persist(new Order(3, 3));
        });
        assertThat(changes()).containsExactly("1 PERSIST", "3 PERSIST");
        assertThat(schema.list(Integer.class, "SELECT id FROM orders ORDER BY id"))
                .containsExactly(1, 3);
    }

    private static void nested(EntityManager em, Connection connection) throws java.sql.SQLException {
        Savepoint savepoint = connection.setSavepoint();
        Order payment = new Order(2, 2);
        em.persist(payment);
        em.flush();
        connection.rollback(savepoint);
        em.detach(payment);
    }

    @Test
    @Tag("B26")
    void inner_transaction_of_its_own_keeps_or_loses_its_jobs_by_itself() throws Exception {
        unit.rollBack(outer -> {
            outer.persist(new Order(1, 1));
            outer.flush();
            unit.commit(inner -> inner.persist(new Order(2, 2)));
        });
        assertThat(changes()).containsExactly("2 PERSIST");
        unit.commit(outer -> {
            outer.persist(new Order(3, 3));
            unit.rollBack(inner -> {
                inner.persist(new Order(4, 4));
                inner.flush();
            });
        });
        assertThat(changes()).containsExactly("2 PERSIST", "3 PERSIST");
    }

    @Test
    @Tag("B34")
    void identity_insert_that_is_removed_before_the_flush_is_a_pair() throws Exception {
        Long id = unit.commitAnd(em -> {
            Stamp stamp = new Stamp();
            em.persist(stamp);
            em.remove(stamp);
            return stamp.id;
        });
        assertThat(changes()).containsExactly(id + " PERSIST", id + " REMOVE");
    }

    @Test
    @Tag("B34")
    void removed_and_persisted_again_in_one_flush_is_no_change_that_is_missed() throws Exception {
        unit.commit(em -> em.persist(new Order(1, 1)));
        unit.commit(em -> {
            Order order = em.find(Order.class, 1);
            em.remove(order);
            em.persist(order);
            order.code = 2;
        });
        assertThat(changes()).containsExactly("1 PERSIST", "1 UPDATE");
    }
}
