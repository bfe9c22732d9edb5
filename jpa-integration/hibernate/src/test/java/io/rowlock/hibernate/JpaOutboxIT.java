package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.transaction.Synchronization;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.engine.spi.SessionImplementor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Jobs written by hand through an EntityManager, and what bulk statements make of that. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
final class JpaOutboxIT {
    @Kind("import-done")
    record ImportDone(int rows) {}

    @Entity(name = "Product")
    @Table(name = "product")
    @OutboxJob(
            kind = "product-changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Product {
        @Id
        int id;

        int price;
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private JpaOutbox outbox;

    JpaOutboxIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Product.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .build();
        outbox = JpaOutbox.of(rowlock);
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM product; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private static void product(EntityManager em, int id) {
        Product product = new Product();
        product.id = id;
        em.persist(product);
    }

    @Test
    void job_by_hand_commits_and_rolls_back_with_the_transaction() throws Exception {
        unit.rollBack(em -> outbox.enqueue(em, new ImportDone(1)));
        assertThat(unit.jobs()).isEmpty();
        unit.commit(em -> {
            outbox.enqueue(em, new ImportDone(2), job -> job.subject("Import:2"));
            outbox.enqueue(em, JobKind.named("text", String.class), "x", job -> {});
            outbox.enqueueAll(em, List.of(JobRequest.of(new ImportDone(3)), JobRequest.of(new ImportDone(4))));
        });
        assertThat(unit.jobs())
                .containsExactly(
                        "import-done {\"rows\":2}",
                        "text \"x\"",
                        "import-done {\"rows\":3}",
                        "import-done {\"rows\":4}");
    }

    @Test
    void job_by_hand_flushes_nothing() throws Exception {
        unit.commit(em -> {
            product(em, 1);
            outbox.enqueue(em, new ImportDone(1));
        });
        assertThat(unit.kinds()).as("written before the flush").containsExactly("import-done", "product-changed");
    }

    @Test
    @Tag("B03")
    void enqueue_without_a_transaction_or_after_its_end_fails_loudly() throws Exception {
        try (EntityManager em = unit.factory().createEntityManager()) {
            assertThatThrownBy(() -> outbox.enqueue(em, new ImportDone(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("would be lost");
            em.getTransaction().begin();
            em.getTransaction().commit();
            assertThatThrownBy(() -> outbox.enqueue(em, new ImportDone(1))).isInstanceOf(InvalidUseException.class);
        }
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    @Tag("B03")
    void enqueue_in_a_callback_after_commit_fails_loudly() throws Exception {
        List<Throwable> thrown = new ArrayList<>();
        unit.commit(em -> em.unwrap(SessionImplementor.class)
                .getTransactionCoordinator()
                .getLocalSynchronizations()
                .registerSynchronization(new Synchronization() {
                    @Override
                    public void beforeCompletion() {}

                    @Override
                    public void afterCompletion(int status) {
                        try {
                            outbox.enqueue(em, new ImportDone(1));
                        } catch (InvalidUseException e) {
                            thrown.add(e);
                        }
                    }
                }));
        assertThat(thrown).hasSize(1);
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    @Tag("P15")
    void refused_payload_leaves_the_transaction_as_it_was() throws Exception {
        unit.commit(em -> {
            assertThatThrownBy(() -> outbox.enqueue(em, new Object())).isInstanceOf(InvalidUseException.class);
            outbox.enqueue(em, new ImportDone(5));
        });
        assertThat(unit.jobs()).containsExactly("import-done {\"rows\":5}");
    }
}
