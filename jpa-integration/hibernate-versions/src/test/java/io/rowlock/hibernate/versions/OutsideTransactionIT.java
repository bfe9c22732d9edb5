package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Outside a transaction the database commits each statement by itself, so a row that needs a job must not be written. */
@Corner("Without a transaction")
@Tag("P1")
final class OutsideTransactionIT extends ProviderTest {
    @Entity(name = "Item")
    @Table(name = "item")
    @OutboxJob(
            kind = "item",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Item {
        @Id
        int id;

        String text = "before";

        @ElementCollection
        @CollectionTable(name = "item_words")
        Set<String> words = new HashSet<>();

        Item() {}

        Item(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Numbered")
    @Table(name = "numbered")
    @OutboxJob(kind = "numbered", on = Change.PERSIST)
    static class Numbered {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
    }

    @Entity(name = "Plain")
    @Table(name = "plain")
    static class Plain {
        @Id
        int id;
    }

    OutsideTransactionIT(TestSchema schema) {
        super(schema, Item.class, Numbered.class, Plain.class);
        unit.with("hibernate.allow_update_outside_transaction", true);
    }

    private SessionFactory factory() {
        return unit.factory().unwrap(SessionFactory.class);
    }

    private static Item changed() {
        Item item = new Item(1);
        item.text = "after";
        return item;
    }

    private void assertNothingWritten() throws Exception {
        assertThat(schema.list(String.class, "SELECT id || text FROM item")).containsExactly("1before");
        assertThat(schema.count("SELECT count(*) FROM numbered")).isZero();
        assertThat(schema.count("SELECT count(*) FROM item_words")).isZero();
        assertThat(kinds()).isEmpty();
    }

    @Test
    @Corner("StatelessSession: an annotated entity is refused, and its row is not written")
    void stateless() throws Exception {
        schema.execute("INSERT INTO item(id, text) VALUES (1, 'before')");
        List<Consumer<StatelessSession>> writes = List.of(
                session -> session.insert(new Item(2)),
                session -> session.insert(new Numbered()),
                session -> session.update(changed()),
                session -> session.upsert(changed()),
                session -> session.delete(new Item(1)));
        for (Consumer<StatelessSession> write : writes) {
            try (StatelessSession session = factory().openStatelessSession()) {
                assertThatThrownBy(() -> write.accept(session)).isInstanceOf(InvalidUseException.class);
            }
            assertNothingWritten();
        }
        try (StatelessSession session = factory().openStatelessSession()) {
            session.insert(new Plain());
        }
        assertThat(schema.count("SELECT count(*) FROM plain")).isEqualTo(1);
    }

    @Test
    @Corner("Session that may write (hibernate.allow_update_outside_transaction): the same")
    void session() throws Exception {
        schema.execute("INSERT INTO item(id, text) VALUES (1, 'before')");
        List<Consumer<Session>> writes = List.of(
                session -> session.persist(new Item(2)),
                session -> session.persist(new Numbered()),
                session -> session.find(Item.class, 1).text = "after",
                session -> session.find(Item.class, 1).words.add("after"),
                session -> session.remove(session.find(Item.class, 1)));
        for (Consumer<Session> write : writes) {
            try (Session session = factory().openSession()) {
                assertThatThrownBy(() -> {
                            write.accept(session);
                            session.flush();
                        })
                        .isInstanceOf(InvalidUseException.class);
            }
            assertNothingWritten();
        }
    }
}
