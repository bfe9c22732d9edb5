package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.spi.ConnectionAccess;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FlushModeType;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceException;
import jakarta.persistence.RollbackException;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.Savepoint;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs follow their rows through everything that a transaction does. */
@Corner("Transactions")
@Tag("P1")
final class TransactionsIT extends ProviderTest {
    @Entity(name = "Payment")
    @Table(name = "payment")
    @OutboxJob(
            kind = "payment",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Payment {
        @Id
        int id;

        int code;

        public Payment() {}

        Payment(int id) {
            this(id, id);
        }

        Payment(int id, int code) {
            this.id = id;
            this.code = code;
        }
    }

    TransactionsIT(TestSchema schema) {
        super(schema, Payment.class);
    }

    @BeforeAll
    void constrain() throws Exception {
        unit.commit(em -> em.persist(new Payment(0)));
        schema.execute("ALTER TABLE payment ADD CONSTRAINT one_code UNIQUE (code) DEFERRABLE INITIALLY DEFERRED");
        schema.execute("ALTER TABLE payment ADD CONSTRAINT positive CHECK (code >= 0)");
    }

    private long jobsSeenBy(EntityManager em) {
        Number count = (Number)
                em.createNativeQuery("SELECT count(*) FROM rowlock_job").getSingleResult();
        return count.longValue();
    }

    @Test
    @Corner("commit: row and job by one transaction")
    void same_transaction() throws Exception {
        unit.commit(em -> em.persist(new Payment(1)));
        assertThat(schema.list(String.class, "SELECT xmin::text FROM rowlock_job"))
                .hasSize(1)
                .containsExactlyElementsOf(schema.list(String.class, "SELECT xmin::text FROM payment"));
    }

    @Test
    @Corner("rollback: no job")
    void rollback() throws Exception {
        unit.rollBack(em -> {
            em.persist(new Payment(1));
            em.flush();
            assertThat(jobsSeenBy(em)).isEqualTo(1);
        });
        assertThat(changes()).isEmpty();
    }

    @Test
    @Corner("setRollbackOnly: no job")
    void rollback_only() throws Exception {
        assertThatCode(() -> unit.commit(em -> {
                    em.persist(new Payment(1));
                    em.flush();
                    em.getTransaction().setRollbackOnly();
                    assertThat(jobsSeenBy(em)).isEqualTo(1);
                }))
                .satisfiesAnyOf(
                        silent -> assertThat(silent).isNull(),
                        told -> assertThat(told).isInstanceOf(RollbackException.class));
        assertThat(changes()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM payment")).isZero();
    }

    @Test
    @Corner("a commit that the database refuses: no job")
    void failed_commit() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.persist(new Payment(1, 7));
                    em.persist(new Payment(2, 7));
                    em.flush();
                    assertThat(jobsSeenBy(em)).isEqualTo(2);
                }))
                .hasStackTraceContaining("one_code");
        assertThat(changes()).isEmpty();
    }

    @Test
    @Corner("a violated constraint, then a new EntityManager: the jobs of the second alone")
    void violated_constraint() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.persist(new Payment(1));
                    em.flush();
                    em.persist(new Payment(2, -1));
                }))
                .isInstanceOf(PersistenceException.class)
                .hasStackTraceContaining("positive");
        unit.commit(em -> em.persist(new Payment(3)));
        assertThat(changes()).containsExactly("Payment 3 PERSIST");
    }

    @Test
    @Corner("a job that cannot be written: its row is not written either")
    void refused_job() throws Exception {
        schema.execute("ALTER TABLE rowlock_job RENAME TO hidden");
        try {
            assertThatThrownBy(() -> unit.commit(em -> em.persist(new Payment(2))))
                    .hasStackTraceContaining("rowlock_job\" does not exist");
        } finally {
            schema.execute("ALTER TABLE hidden RENAME TO rowlock_job");
        }
        assertThat(schema.count("SELECT count(*) FROM payment")).isZero();
    }

    @Test
    @Tag("B26")
    @Corner("a savepoint rolled back: the jobs of its part are gone")
    void savepoint() throws Exception {
        unit.commit(em -> {
            em.persist(new Payment(1));
            em.flush();
            onConnection(em, connection -> {
                Savepoint savepoint = connection.setSavepoint();
                em.persist(new Payment(2));
                em.flush();
                connection.rollback(savepoint);
            });
            em.clear();
            em.persist(new Payment(3));
        });
        assertThat(changes()).containsExactly("Payment 1 PERSIST", "Payment 3 PERSIST");
        assertThat(schema.list(Integer.class, "SELECT id FROM payment ORDER BY id"))
                .containsExactly(1, 3);
    }

    private interface ConnectionWork {
        void on(Connection connection) throws Exception;
    }

    /** As the provider's adapter reaches the connection of an EntityManager. */
    private static void onConnection(EntityManager em, ConnectionWork work) {
        ConnectionAccess access = ServiceLoader.load(ConnectionAccess.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.accepts(em.getEntityManagerFactory()))
                .findFirst()
                .orElseThrow();
        try {
            access.call(em, connection -> {
                work.on(connection);
                return true;
            });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @Corner("FlushModeType.AUTO: a query that flushes writes the jobs too")
    void auto_flush() throws Exception {
        unit.commit(em -> {
            em.persist(new Payment(1));
            assertThat(em.createQuery("select count(p) from Payment p", Long.class)
                            .getSingleResult())
                    .isEqualTo(1);
            assertThat(jobsSeenBy(em)).isEqualTo(1);
        });
        assertThat(changes()).containsExactly("Payment 1 PERSIST");
    }

    @Test
    @Corner("FlushModeType.COMMIT: the jobs are written at commit")
    void commit_flush() throws Exception {
        unit.commit(em -> {
            em.setFlushMode(FlushModeType.COMMIT);
            em.persist(new Payment(1));
            assertThat(em.createQuery("select count(p) from Payment p", Long.class)
                            .getSingleResult())
                    .isZero();
        });
        assertThat(changes()).containsExactly("Payment 1 PERSIST");
    }

    @Test
    @Corner("two transactions of one EntityManager: the jobs of those that committed")
    void two_transactions() throws Exception {
        EntityManager em = unit.factory().createEntityManager();
        try {
            for (int id = 1; id <= 3; id++) {
                em.getTransaction().begin();
                em.persist(new Payment(id));
                em.flush();
                if (id == 2) {
                    em.getTransaction().rollback();
                    em.clear();
                } else {
                    em.getTransaction().commit();
                }
            }
        } finally {
            em.close();
        }
        assertThat(changes()).containsExactly("Payment 1 PERSIST", "Payment 3 PERSIST");
    }

    @Test
    @Tag("B26")
    @Corner("a transaction within another, of a second EntityManager: each keeps or loses its own jobs")
    void inner_transaction() throws Exception {
        unit.rollBack(outer -> {
            outer.persist(new Payment(1));
            outer.flush();
            unit.commit(inner -> inner.persist(new Payment(2)));
        });
        unit.commit(outer -> {
            outer.persist(new Payment(3));
            unit.rollBack(inner -> {
                inner.persist(new Payment(4));
                inner.flush();
            });
        });
        assertThat(changes()).containsExactly("Payment 2 PERSIST", "Payment 3 PERSIST");
    }

    @Test
    @Corner("two persistence units: each writes to its own tables")
    void two_units() throws Exception {
        TestSchema second = TestSchema.create(schema.server(), "second");
        try (second;
                ProviderUnit other = ProviderUnit.on(second, Payment.class)) {
            install(second);
            other.commit(em -> em.persist(new Payment(1)));
            unit.commit(em -> em.persist(new Payment(2)));
            assertThat(second.list(String.class, "SELECT subject FROM rowlock_job"))
                    .containsExactly("Payment:1");
        }
        assertThat(changes()).containsExactly("Payment 2 PERSIST");
    }

    @Test
    @Corner("a read-only transaction: neither row nor job")
    void read_only() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.createNativeQuery("SET TRANSACTION READ ONLY").executeUpdate();
                    em.persist(new Payment(1));
                }))
                .hasStackTraceContaining("read-only transaction");
        assertThat(changes()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM payment")).isZero();
    }

    /** The second transaction of an EntityManager whose first one fails, at the latest at commit. */
    private void failedThenCommitted(String violated, Payment... payments) throws Exception {
        EntityManager em = unit.factory().createEntityManager();
        try {
            em.getTransaction().begin();
            assertThatThrownBy(() -> {
                        for (Payment payment : payments) {
                            em.persist(payment);
                        }
                        em.getTransaction().commit();
                    })
                    .hasStackTraceContaining(violated);
            if (em.getTransaction().isActive()) {
                em.getTransaction().rollback();
            }
            assertThat(changes()).isEmpty();
            em.clear();
            em.getTransaction().begin();
            em.persist(new Payment(3, 7));
            em.getTransaction().commit();
        } finally {
            em.close();
        }
        assertThat(changes()).containsExactly("Payment 3 PERSIST");
        assertThat(schema.count("SELECT count(*) FROM payment")).isEqualTo(1);
    }

    @Test
    @Corner("a violated constraint, then the same EntityManager: the jobs of the second alone")
    void reused_after_a_failed_flush() throws Exception {
        failedThenCommitted("positive", new Payment(1, 7), new Payment(2, -1));
    }

    @Test
    @Corner("a commit that the database refuses, then the same EntityManager: the jobs of the second alone")
    void reused_after_a_failed_commit() throws Exception {
        failedThenCommitted("one_code", new Payment(1, 7), new Payment(2, 7));
    }
}
