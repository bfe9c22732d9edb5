package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MapsId;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hibernate.Hibernate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Entities that are changed through others: each that really changed has its job. With statements sorted in batches. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B34")
final class GraphsIT {
    @Entity(name = "Cart")
    @Table(name = "cart")
    @OutboxJob(
            kind = "cart",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Cart {
        @Id
        int id;

        String owner;

        @OneToMany(mappedBy = "cart", cascade = CascadeType.ALL, orphanRemoval = true)
        List<Line> lines = new ArrayList<>();

        @OneToOne(mappedBy = "cart", cascade = CascadeType.ALL, orphanRemoval = true)
        Receipt receipt;

        Line add(int line) {
            Line added = new Line();
            added.id = line;
            added.cart = this;
            lines.add(added);
            return added;
        }
    }

    @Entity(name = "Line")
    @Table(name = "line")
    @OutboxJob(
            kind = "line",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Line {
        @Id
        int id;

        int pieces;

        @ManyToOne
        Cart cart;
    }

    /** Its id is that of the cart. */
    @Entity(name = "Receipt")
    @Table(name = "receipt")
    @OutboxJob(
            kind = "receipt",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Receipt {
        @Id
        Integer id;

        @MapsId
        @OneToOne
        Cart cart;
    }

    private final TestSchema schema;
    private final TestUnit unit;

    GraphsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Cart.class, Line.class, Receipt.class)
                .with("hibernate.jdbc.batch_size", 20)
                .with("hibernate.order_inserts", true)
                .with("hibernate.order_updates", true)
                .with("hibernate.jdbc.batch_versioned_data", true);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void fill() throws Exception {
        for (String table : List.of("receipt", "line", "cart", "rowlock_job")) {
            schema.execute("DELETE FROM " + table);
        }
        unit.commit(em -> {
            Cart cart = new Cart();
            cart.id = 1;
            cart.add(11);
            cart.add(12);
            cart.receipt = new Receipt();
            cart.receipt.cart = cart;
            em.persist(cart);
        });
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private List<String> changes() throws Exception {
        return schema.list(
                String.class,
                "SELECT (payload->>'entity') || ' ' || (payload->>'id') || ' ' || (payload->>'change') FROM rowlock_job"
                        + " ORDER BY 1");
    }

    private List<String> changesBy(Consumer<EntityManager> work) throws Exception {
        schema.execute("DELETE FROM rowlock_job");
        unit.commit(work);
        return changes();
    }

    @Test
    void cascaded_persist_makes_the_jobs_of_all_with_derived_ids() throws Exception {
        assertThat(changes())
                .containsExactly("Cart 1 PERSIST", "Line 11 PERSIST", "Line 12 PERSIST", "Receipt 1 PERSIST");
    }

    @Test
    void cascaded_removal_makes_the_jobs_of_all() throws Exception {
        assertThat(changesBy(em -> em.remove(em.find(Cart.class, 1))))
                .containsExactly("Cart 1 REMOVE", "Line 11 REMOVE", "Line 12 REMOVE", "Receipt 1 REMOVE");
    }

    @Test
    void removal_of_a_proxy_that_was_never_loaded_cascades() throws Exception {
        assertThat(changesBy(em -> em.remove(em.getReference(Cart.class, 1))))
                .containsExactly("Cart 1 REMOVE", "Line 11 REMOVE", "Line 12 REMOVE", "Receipt 1 REMOVE");
    }

    @Test
    void orphan_is_removed_and_its_former_owner_unchanged() throws Exception {
        assertThat(changesBy(em -> em.find(Cart.class, 1).lines.remove(0))).containsExactly("Line 11 REMOVE");
        assertThat(changesBy(em -> em.find(Cart.class, 1).receipt = null)).containsExactly("Receipt 1 REMOVE");
    }

    @Test
    void merged_graph_makes_jobs_of_what_is_new_changed_and_gone() throws Exception {
        Cart detached = unit.commitAnd(em -> {
            Cart cart = em.find(Cart.class, 1);
            Hibernate.initialize(cart.lines);
            return cart;
        });
        assertThat(changesBy(em -> em.merge(detached))).isEmpty();
        detached.lines.remove(0);
        detached.lines.get(0).pieces = 5;
        detached.add(13);
        assertThat(changesBy(em -> em.merge(detached)))
                .containsExactly("Line 11 REMOVE", "Line 12 UPDATE", "Line 13 PERSIST");
    }

    @Test
    void sorted_batches_make_one_job_for_each_change() throws Exception {
        List<String> changes = changesBy(em -> {
            for (int i = 100; i < 150; i++) {
                Cart cart = new Cart();
                cart.id = i;
                cart.add(i * 10);
                em.persist(cart);
            }
            em.find(Cart.class, 1).owner = "Ada";
            em.find(Line.class, 11).pieces = 1;
            em.find(Line.class, 12).pieces = 1;
        });
        assertThat(changes).hasSize(103).doesNotHaveDuplicates();
        assertThat(changes).filteredOn(each -> each.endsWith("UPDATE")).hasSize(3);
    }
}
