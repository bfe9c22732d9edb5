package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MapsId;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.PersistenceUnitUtil;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Entities that are changed through others: each that really changed has its job. */
@Corner("Graphs")
@Tag("B34")
final class GraphsIT extends ProviderTest {
    @Entity(name = "Cart")
    @Table(name = "cart")
    @OutboxJob(
            kind = "cart",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            orderedBy = "receipt",
            subject = "receipt")
    public static class Cart {
        @Id
        int id;

        String owner;

        @OneToMany(mappedBy = "cart", cascade = CascadeType.ALL, orphanRemoval = true)
        List<Line> lines = new ArrayList<>();

        @OneToOne(cascade = CascadeType.ALL, orphanRemoval = true)
        Receipt receipt;

        @OneToOne(mappedBy = "cart", cascade = CascadeType.ALL, orphanRemoval = true)
        Coupon coupon;

        Line add(int line) {
            Line added = new Line();
            added.id = line;
            added.cart = this;
            lines.add(added);
            return added;
        }

        Line line(int id) {
            return lines.stream().filter(line -> line.id == id).findFirst().orElseThrow();
        }
    }

    @Entity(name = "Line")
    @Table(name = "line")
    @OutboxJob(
            kind = "line",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Line {
        @Id
        int id;

        int pieces;

        @ManyToOne
        Cart cart;
    }

    @Entity(name = "Receipt")
    @Table(name = "receipt")
    @OutboxJob(
            kind = "receipt",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Receipt {
        @Id
        int id;
    }

    /** Its id is that of the cart. */
    @Entity(name = "Coupon")
    @Table(name = "coupon")
    @OutboxJob(
            kind = "coupon",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public static class Coupon {
        @Id
        Integer id;

        @MapsId
        @OneToOne
        Cart cart;
    }

    GraphsIT(TestSchema schema) {
        super(schema, Cart.class, Line.class, Receipt.class, Coupon.class);
    }

    @BeforeEach
    void fill() {
        unit.commit(em -> {
            Cart cart = new Cart();
            cart.id = 1;
            cart.add(11);
            cart.add(12);
            cart.receipt = new Receipt();
            cart.receipt.id = 5;
            em.persist(cart);
        });
    }

    private Cart detached() {
        return unit.answer(em -> {
            Cart cart = em.find(Cart.class, 1);
            assertThat(cart.lines).hasSize(2);
            return cart;
        });
    }

    @Test
    @Corner("cascaded persist: the jobs of all")
    void persist() throws Exception {
        assertThat(changes())
                .containsExactly("Cart 1 PERSIST", "Line 11 PERSIST", "Line 12 PERSIST", "Receipt 5 PERSIST");
    }

    @Test
    @Corner("cascaded removal: the jobs of all")
    void remove() throws Exception {
        assertThat(changesBy(em -> em.remove(em.find(Cart.class, 1))))
                .containsExactly("Cart 1 REMOVE", "Line 11 REMOVE", "Line 12 REMOVE", "Receipt 5 REMOVE");
    }

    @Test
    @Corner("cascaded removal of a reference that was never loaded: the jobs of all")
    void remove_reference() throws Exception {
        assertThat(changesBy(em -> em.remove(em.getReference(Cart.class, 1))))
                .containsExactly("Cart 1 REMOVE", "Line 11 REMOVE", "Line 12 REMOVE", "Receipt 5 REMOVE");
    }

    @Test
    @Corner("removed after what it refers to, in one flush: ordering key and subject of that all the same")
    void remove_after_the_referenced() throws Exception {
        forgetJobs();
        unit.commit(em -> {
            Cart cart = em.find(Cart.class, 1);
            em.remove(cart.receipt);
            em.remove(cart);
        });
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', ordering_key, subject) FROM rowlock_job WHERE kind = 'cart'"))
                .containsExactly("Receipt:5 Receipt:5");
    }

    @Test
    @Corner("orphan removal from a list: REMOVE of the orphan alone")
    void orphan() throws Exception {
        assertThat(changesBy(em -> {
                    Cart cart = em.find(Cart.class, 1);
                    cart.lines.remove(cart.line(11));
                }))
                .containsExactly("Line 11 REMOVE");
    }

    @Test
    @Corner("orphan removal from a reference: REMOVE of the orphan, UPDATE of the owner")
    void orphan_of_a_reference() throws Exception {
        assertThat(changesBy(em -> em.find(Cart.class, 1).receipt = null))
                .containsExactly("Cart 1 UPDATE", "Receipt 5 REMOVE");
    }

    @Test
    @Corner("merge of a detached graph that was not changed: no job")
    void merge_unchanged() throws Exception {
        Cart detached = detached();
        assertThat(changesBy(em -> em.merge(detached))).isEmpty();
    }

    @Test
    @Corner("merge of a detached graph: the jobs of what is new, changed and gone")
    void merge_changed() throws Exception {
        Cart detached = detached();
        detached.lines.remove(detached.line(11));
        detached.line(12).pieces = 5;
        detached.add(13);
        assertThat(changesBy(em -> em.merge(detached)))
                .containsExactly("Line 11 REMOVE", "Line 12 UPDATE", "Line 13 PERSIST");
    }

    @Test
    @Corner("one entity of many changed: its job alone")
    void one_of_many() throws Exception {
        assertThat(changesBy(em -> em.find(Cart.class, 1).line(12).pieces = 3)).containsExactly("Line 12 UPDATE");
    }

    private static Cart withCoupon(int id) {
        Cart cart = new Cart();
        cart.id = id;
        cart.coupon = new Coupon();
        cart.coupon.cart = cart;
        return cart;
    }

    @Test
    @Corner("a child whose id is its parent's (@MapsId), by cascade: jobs with that id")
    void derived_id() throws Exception {
        assertThat(changesBy(em -> em.persist(withCoupon(2)))).containsExactly("Cart 2 PERSIST", "Coupon 2 PERSIST");
        assertThat(changesBy(em -> em.find(Cart.class, 2).coupon = null)).containsExactly("Coupon 2 REMOVE");
        unit.commit(em -> em.persist(withCoupon(3)));
        assertThat(changesBy(em -> em.remove(em.find(Cart.class, 3))))
                .containsExactly("Cart 3 REMOVE", "Coupon 3 REMOVE");
    }

    @Test
    @Tag("B45")
    @Corner("a graph with cycles: the default payload names its row alone, and loads nothing")
    void cycles() throws Exception {
        forgetJobs();
        PersistenceUnitUtil loaded = unit.factory().getPersistenceUnitUtil();
        unit.commit(em -> {
            Cart cart = em.find(Cart.class, 1);
            cart.owner = "Ada";
            em.flush();
            assertThat(loaded.isLoaded(cart, "lines")).isFalse();
        });
        assertThat(schema.list(String.class, "SELECT payload::text FROM rowlock_job"))
                .containsExactly("{\"entity\":\"Cart\",\"id\":\"1\",\"change\":\"UPDATE\",\"version\":null}");
    }
}
