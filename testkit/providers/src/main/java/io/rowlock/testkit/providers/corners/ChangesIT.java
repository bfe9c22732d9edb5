package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which changes of one entity make which jobs. */
@Corner("Changes")
final class ChangesIT extends ProviderTest {
    @Entity(name = "Purchase")
    @Table(name = "purchase")
    @OutboxJob(
            kind = "purchase",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Purchase {
        @Id
        int id;

        @Version
        int version;

        String status = "new";

        public Purchase() {}

        Purchase(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Plain")
    @Table(name = "plain")
    @OutboxJob(
            kind = "plain",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Plain {
        @Id
        int id;

        String status = "new";
    }

    ChangesIT(TestSchema schema) {
        super(schema, Purchase.class, Plain.class);
    }

    private void stored(int id) throws Exception {
        unit.commit(em -> em.persist(new Purchase(id)));
        forgetJobs();
    }

    private String payload() throws Exception {
        return schema.one(String.class, "SELECT payload::text FROM rowlock_job").orElseThrow();
    }

    @Test
    @Corner("PERSIST: a job with id, version and subject")
    void persist() throws Exception {
        unit.commit(em -> em.persist(new Purchase(1)));
        assertThat(payload())
                .matches("\\{\"entity\":\"Purchase\",\"id\":\"1\",\"change\":\"PERSIST\",\"version\":\"[01]\"}");
        assertThat(schema.list(String.class, "SELECT kind || ' ' || subject FROM rowlock_job"))
                .containsExactly("purchase Purchase:1");
    }

    @Test
    @Corner("UPDATE: a job with the new version")
    void update() throws Exception {
        stored(1);
        unit.commit(em -> em.find(Purchase.class, 1).status = "paid");
        assertThat(payload())
                .isEqualTo("{\"entity\":\"Purchase\",\"id\":\"1\",\"change\":\"UPDATE\",\"version\":\""
                        + schema.count("SELECT version::bigint FROM purchase") + "\"}");
    }

    @Test
    @Corner("REMOVE: a job")
    void remove() throws Exception {
        stored(1);
        assertThat(changesBy(em -> em.remove(em.find(Purchase.class, 1)))).containsExactly("Purchase 1 REMOVE");
        assertThat(schema.count("SELECT count(*) FROM purchase")).isZero();
    }

    @Test
    @Corner("an entity without a version: jobs with none")
    void versionless() throws Exception {
        unit.commit(em -> em.persist(new Plain()));
        assertThat(payload()).endsWith("\"change\":\"PERSIST\",\"version\":null}");
        assertThat(changesBy(em -> em.find(Plain.class, 0).status = "paid")).containsExactly("Plain 0 UPDATE");
        assertThat(changesBy(em -> em.remove(em.find(Plain.class, 0)))).containsExactly("Plain 0 REMOVE");
    }

    @Test
    @Corner("persisted and updated in one flush: PERSIST")
    void persist_and_update() throws Exception {
        assertThat(changesBy(em -> {
                    Purchase purchase = new Purchase(1);
                    em.persist(purchase);
                    purchase.status = "paid";
                }))
                .containsExactly("Purchase 1 PERSIST");
    }

    @Test
    @Tag("B34")
    @Corner("persisted and removed in one flush: no job")
    void persist_and_remove() throws Exception {
        assertThat(changesBy(em -> {
                    Purchase purchase = new Purchase(1);
                    em.persist(purchase);
                    em.remove(purchase);
                    em.persist(new Purchase(2));
                }))
                .containsExactly("Purchase 2 PERSIST");
    }

    @Test
    @Tag("B34")
    @Corner("updated and removed in one flush: REMOVE")
    void update_and_remove() throws Exception {
        stored(1);
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    purchase.status = "paid";
                    em.remove(purchase);
                }))
                .containsExactly("Purchase 1 REMOVE");
    }

    @Test
    @Tag("B34")
    @Corner("a reference that was never loaded is removed: REMOVE")
    void remove_of_a_reference() throws Exception {
        stored(1);
        assertThat(changesBy(em -> em.remove(em.getReference(Purchase.class, 1))))
                .containsExactly("Purchase 1 REMOVE");
    }

    @Test
    @Corner("a version incremented by force: no job")
    void forced_increment() throws Exception {
        stored(1);
        long before = schema.count("SELECT version::bigint FROM purchase");
        assertThat(changesBy(em -> em.find(Purchase.class, 1, LockModeType.OPTIMISTIC_FORCE_INCREMENT)))
                .isEmpty();
        assertThat(changesBy(em -> em.find(Purchase.class, 1, LockModeType.PESSIMISTIC_FORCE_INCREMENT)))
                .isEmpty();
        assertThat(schema.count("SELECT version::bigint FROM purchase")).isEqualTo(before + 2);
    }

    @Test
    @Corner("nothing really changed: no job")
    void nothing_changed() throws Exception {
        stored(1);
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    purchase.status = "paid";
                    purchase.status = String.valueOf(new char[] {'n', 'e', 'w'});
                    em.persist(new Purchase(2));
                }))
                .containsExactly("Purchase 2 PERSIST");
    }

    @Test
    @Corner("several flushes in one transaction: a job for the changes of each")
    void several_flushes() throws Exception {
        assertThat(changesBy(em -> {
                    Purchase purchase = new Purchase(1);
                    em.persist(purchase);
                    em.flush();
                    purchase.status = "paid";
                    em.flush();
                    purchase.status = "sent";
                    em.flush();
                    em.flush();
                    em.remove(purchase);
                }))
                .containsExactly("Purchase 1 PERSIST", "Purchase 1 REMOVE", "Purchase 1 UPDATE", "Purchase 1 UPDATE");
    }

    @Test
    @Corner("clear() after a flush: its jobs stay; before one: no job")
    void clear() throws Exception {
        assertThat(changesBy(em -> {
                    em.persist(new Purchase(1));
                    em.flush();
                    em.clear();
                    em.persist(new Purchase(2));
                    em.clear();
                }))
                .containsExactly("Purchase 1 PERSIST");
    }

    @Test
    @Corner("detach() before the flush: no job")
    void detach() throws Exception {
        stored(1);
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    purchase.status = "paid";
                    em.detach(purchase);
                    em.persist(new Purchase(2));
                }))
                .containsExactly("Purchase 2 PERSIST");
    }

    @Test
    @Corner("refresh() before the flush: no job")
    void refresh() throws Exception {
        stored(1);
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    purchase.status = "paid";
                    em.refresh(purchase);
                    em.persist(new Purchase(2));
                }))
                .containsExactly("Purchase 2 PERSIST");
    }

    @Test
    @Corner("merge of a detached entity: UPDATE where it was changed, else no job")
    void merge() throws Exception {
        stored(1);
        Purchase detached = unit.answer(em -> em.find(Purchase.class, 1));
        assertThat(changesBy(em -> em.merge(detached))).isEmpty();
        detached.status = "paid";
        assertThat(changesBy(em -> em.merge(detached))).containsExactly("Purchase 1 UPDATE");
    }

    @Test
    @Corner("merge of a new entity: PERSIST")
    void merge_of_a_new_one() throws Exception {
        assertThat(changesBy(em -> em.merge(new Plain()))).containsExactly("Plain 0 PERSIST");
    }

    @Test
    @Corner("1,000 entities in one flush: a job each")
    void thousand() throws Exception {
        assertThat(changesBy(em -> IntStream.range(0, 1_000).forEach(id -> em.persist(new Purchase(id)))))
                .hasSize(1_000)
                .doesNotHaveDuplicates();
        assertThat(changesBy(em -> em.createQuery("select p from Purchase p", Purchase.class)
                        .getResultList()
                        .forEach(purchase -> purchase.status = "paid")))
                .hasSize(1_000)
                .doesNotHaveDuplicates();
    }

    @Test
    @Tag("B34")
    @Corner("removed and persisted again in one flush: UPDATE where it differs, else no job")
    void remove_and_persist() throws Exception {
        stored(1);
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    em.remove(purchase);
                    em.persist(purchase);
                }))
                .isEmpty();
        assertThat(changesBy(em -> {
                    Purchase purchase = em.find(Purchase.class, 1);
                    em.remove(purchase);
                    em.persist(purchase);
                    purchase.status = "paid";
                }))
                .containsExactly("Purchase 1 UPDATE");
    }
}
