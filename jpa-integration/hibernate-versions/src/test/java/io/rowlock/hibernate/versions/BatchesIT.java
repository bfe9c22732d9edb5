package io.rowlock.hibernate.versions;

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
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With statements in batches and sorted by entity, not in the order of the changes. */
@Corner("Batches")
@Tag("B34")
final class BatchesIT extends ProviderTest {
    @Entity(name = "Cart")
    @Table(name = "cart")
    @OutboxJob(
            kind = "cart",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Cart {
        @Id
        int id;

        @Version
        int version;

        String owner;

        @OneToMany(mappedBy = "cart", cascade = CascadeType.ALL, orphanRemoval = true)
        List<Line> lines = new ArrayList<>();

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

    BatchesIT(TestSchema schema) {
        super(schema, Cart.class, Line.class);
        unit.with("hibernate.jdbc.batch_size", 20)
                .with("hibernate.order_inserts", true)
                .with("hibernate.order_updates", true)
                .with("hibernate.jdbc.batch_versioned_data", true);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            for (int id = 1; id <= 50; id++) {
                Cart cart = new Cart();
                cart.id = id;
                cart.add(100 + id);
                em.persist(cart);
            }
        });
    }

    /** A line of each cart and a line of each line. */
    private static List<String> all(String change) {
        return IntStream.rangeClosed(1, 50)
                .boxed()
                .flatMap(id -> Stream.of("Cart " + id + " " + change, "Line " + (100 + id) + " " + change))
                .toList();
    }

    @Test
    @Corner("order_inserts and batches: a job each")
    void inserts() throws Exception {
        assertThat(changes()).containsExactlyInAnyOrderElementsOf(all("PERSIST"));
    }

    @Test
    @Corner("order_updates and batches of versioned rows: a job each, with its version")
    void updates() throws Exception {
        assertThat(changesBy(em -> em.createQuery("select c from Cart c", Cart.class)
                        .getResultList()
                        .forEach(cart -> {
                            cart.owner = "Ada";
                            cart.lines.get(0).pieces = 1;
                        })))
                .containsExactlyInAnyOrderElementsOf(all("UPDATE"));
        assertThat(schema.list(
                        String.class, "SELECT DISTINCT payload->>'version' FROM rowlock_job WHERE kind = 'cart'"))
                .containsExactly("1");
    }

    @Test
    @Corner("deletes in batches: a job each")
    void deletes() throws Exception {
        assertThat(changesBy(em -> em.createQuery("select c from Cart c", Cart.class)
                        .getResultList()
                        .forEach(em::remove)))
                .containsExactlyInAnyOrderElementsOf(all("REMOVE"));
    }

    @Test
    @Corner("inserts, updates and deletes sorted in one flush: a job each")
    void mixed() throws Exception {
        List<String> changes = changesBy(em -> {
            for (int id = 51; id <= 90; id++) {
                Cart cart = new Cart();
                cart.id = id;
                cart.add(100 + id);
                em.persist(cart);
            }
            em.find(Cart.class, 1).owner = "Ada";
            em.find(Line.class, 101).pieces = 1;
            em.find(Line.class, 102).pieces = 1;
            em.find(Cart.class, 3).lines.remove(0);
        });
        assertThat(changes).hasSize(84).doesNotHaveDuplicates();
        assertThat(changes)
                .filteredOn(each -> !each.endsWith("PERSIST"))
                .containsExactly("Cart 1 UPDATE", "Line 101 UPDATE", "Line 102 UPDATE", "Line 103 REMOVE");
    }
}
