package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.BulkStatementMet;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChanged;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.Suppression;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import io.rowlock.worker.HandCrankedWorker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.criteria.CriteriaDelete;
import jakarta.persistence.criteria.CriteriaUpdate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A unit with its Rowlock: jobs by hand, suppression, bulk statements, handlers, causes. */
@Corner("Outbox and handlers")
@SuppressWarnings("try") // a suppression need not be asked
final class OutboxIT extends ProviderTest {
    @Kind("by-hand")
    record ByHand(String text) {}

    @Entity(name = "Task")
    @Table(name = "task")
    @OutboxJob(
            kind = "task",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    @OutboxJob(kind = "created", on = Change.PERSIST)
    public static class Task {
        @Id
        int id;

        int turns;

        public Task() {}

        Task(int id) {
            this.id = id;
        }
    }

    private final List<String> met = new ArrayList<>();
    private Rowlock rowlock;
    private JpaOutbox outbox;

    OutboxIT(TestSchema schema) {
        super(schema, Task.class);
    }

    @BeforeAll
    void build() {
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .headers(() -> Map.of("tenant", "acme"))
                .listener(event -> {
                    if (event instanceof BulkStatementMet bulk) {
                        met.add(bulk.entity() + " " + bulk.change());
                    }
                })
                .build();
        outbox = JpaOutbox.of(rowlock);
    }

    @BeforeEach
    void forget() {
        met.clear();
    }

    @Test
    @Corner("JpaOutbox: a job by hand in the EntityManager's transaction, refused without one")
    void by_hand() throws Exception {
        unit.commit(em -> outbox.enqueue(em, new ByHand("kept")));
        unit.rollBack(em -> outbox.enqueue(em, new ByHand("lost")));
        assertThat(texts("by-hand")).containsExactly("kept");
        EntityManager em = unit.factory().createEntityManager();
        assertThatThrownBy(() -> outbox.enqueue(em, new ByHand("lost"))).isInstanceOf(InvalidUseException.class);
        em.close();
        assertThat(kinds()).hasSize(1);
    }

    @Test
    @Corner("suppression: no jobs while it is open, those before and after it are made")
    void suppression() throws Exception {
        assertThat(changesBy(em -> {
                    em.persist(new Task(1));
                    try (Suppression silent = outbox.suppress(em, "import")) {
                        em.persist(new Task(2));
                        em.flush();
                        assertThat(silent.count()).isEqualTo(2);
                        em.find(Task.class, 1).turns = 1;
                    }
                    em.persist(new Task(3));
                }))
                .containsExactly("Task 1 PERSIST", "Task 1 PERSIST", "Task 3 PERSIST", "Task 3 PERSIST");
        assertThat(schema.count("SELECT count(*) FROM task")).isEqualTo(3);
    }

    @Test
    @Corner("suppression of some kinds: the others are made")
    void suppression_of_kinds() throws Exception {
        unit.commit(em -> {
            try (Suppression silent = outbox.suppress(em, "import", "created")) {
                em.persist(new Task(1));
            }
        });
        assertThat(kinds()).containsExactly("task");
    }

    private static int bulkUpdate(EntityManager em) {
        return em.createQuery("update Task t set t.turns = 5").executeUpdate();
    }

    private static int bulkDelete(EntityManager em) {
        return em.createQuery("delete from Task t where t.turns = 5").executeUpdate();
    }

    private List<String> metBy(Consumer<EntityManager> work) {
        met.clear();
        unit.commit(work);
        return met;
    }

    @Test
    @Tag("B05")
    @Corner("bulk JPQL UPDATE and DELETE: no job")
    void bulk() throws Exception {
        unit.commit(em -> em.persist(new Task(1)));
        assertThat(changesBy(em -> assertThat(bulkUpdate(em)).isEqualTo(1))).isEmpty();
        assertThat(changesBy(em -> assertThat(bulkDelete(em)).isEqualTo(1))).isEmpty();
    }

    @Test
    @Tag("B05")
    @Corner("a bulk statement and its jobs by hand: by one transaction")
    void bulk_by_hand() throws Exception {
        unit.commit(em -> em.persist(new Task(1)));
        forgetJobs();
        unit.rollBack(em -> outbox.enqueue(em, new ByHand(bulkUpdate(em) + " lost")));
        unit.commit(em -> outbox.enqueue(em, new ByHand(bulkUpdate(em) + " changed")));
        assertThat(texts("by-hand")).containsExactly("1 changed");
        assertThat(schema.list(String.class, "SELECT xmin::text FROM rowlock_job"))
                .containsExactlyElementsOf(schema.list(String.class, "SELECT xmin::text FROM task"));
    }

    @Test
    @Tag("B05")
    @Corner("bulk JPQL UPDATE and DELETE: warned of, with rowlock.bulk=warn")
    void bulk_warned() {
        assertThat(metBy(OutboxIT::bulkUpdate)).containsExactly("Task UPDATE");
        assertThat(metBy(OutboxIT::bulkDelete)).containsExactly("Task REMOVE");
    }

    @Test
    @Tag("B05")
    @Corner("bulk Criteria UPDATE and DELETE: no job, warned of")
    void bulk_criteria() throws Exception {
        CriteriaUpdate<Task> update = unit.factory().getCriteriaBuilder().createCriteriaUpdate(Task.class);
        update.from(Task.class);
        update.set("turns", 5);
        CriteriaDelete<Task> delete = unit.factory().getCriteriaBuilder().createCriteriaDelete(Task.class);
        delete.from(Task.class);
        unit.commit(em -> em.persist(new Task(1)));
        assertThat(changesBy(
                        em -> assertThat(em.createQuery(update).executeUpdate()).isEqualTo(1)))
                .isEmpty();
        assertThat(changesBy(
                        em -> assertThat(em.createQuery(delete).executeUpdate()).isEqualTo(1)))
                .isEmpty();
        assertThat(met).containsExactly("Task UPDATE", "Task REMOVE");
    }

    @Test
    @Tag("B05")
    @Corner("native UPDATE and DELETE: warned of, with rowlock.bulk=warn")
    void bulk_native() {
        assertThat(metBy(em -> em.createNativeQuery("UPDATE task SET turns = 5").executeUpdate()))
                .containsExactly("Task UPDATE");
        assertThat(metBy(em -> em.createNativeQuery("DELETE FROM task").executeUpdate()))
                .containsExactly("Task REMOVE");
    }

    @Test
    @Tag("B05")
    @Corner("bulk JPQL UPDATE and DELETE: refused, with rowlock.bulk=fail")
    void bulk_refused() throws Exception {
        unit.commit(em -> em.persist(new Task(1)));
        try (ProviderUnit strict = ProviderUnit.on(schema, Task.class)
                .with("jakarta.persistence.schema-generation.database.action", "none")
                .with("rowlock.bulk", "fail")) {
            assertThatThrownBy(() -> strict.commit(OutboxIT::bulkUpdate)).hasStackTraceContaining("rowlock.bulk");
            assertThatThrownBy(() -> strict.commit(OutboxIT::bulkDelete)).hasStackTraceContaining("rowlock.bulk");
        }
        assertThat(schema.count("SELECT count(*) FROM task WHERE turns = 0")).isEqualTo(1);
    }

    @Test
    @Corner("a transactional handler changes an entity: a job that knows its cause, depth and headers")
    void causes() throws Exception {
        unit.commit(em -> em.persist(new Task(1)));
        schema.execute("DELETE FROM rowlock_job WHERE kind = 'created'");
        long first = schema.count("SELECT id FROM rowlock_job");
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handleTransactionally(
                JobKind.named("task", EntityChanged.class), JpaTransactions.of(unit.factory()), (changed, job, em) -> {
                    Task task = em.find(Task.class, Integer.valueOf(changed.id()));
                    if (task.turns < 2) {
                        task.turns++;
                    }
                }))) {
            worker.drain();
        }
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', headers->>'tenant', headers->>'rowlock-depth', headers->>'rowlock-cause')"
                                + " FROM rowlock_job ORDER BY id"))
                .hasSize(3)
                .startsWith("acme", "acme 1 task/" + first)
                .last()
                .asString()
                .startsWith("acme 2 task/");
    }
}
