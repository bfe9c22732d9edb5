package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.Suppression;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.List;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a StatelessSession writes has its jobs. */
@Corner("StatelessSession")
@Tag("B15")
final class StatelessIT extends ProviderTest {
    static final String WRITES = "StatelessSession: insert, update, delete";
    static final String UPSERT = "StatelessSession: upsert: PERSIST or UPDATE";
    static final String MULTIPLE = "StatelessSession: insertMultiple, updateMultiple, deleteMultiple: a job each";
    static final String SUPPRESS = "StatelessSession: suppression";

    @Entity(name = "Item")
    @Table(name = "item")
    @OutboxJob(
            kind = "item",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Item {
        @Id
        int id;

        String text;

        Item() {}

        Item(int id) {
            this.id = id;
        }
    }

    private interface Work {
        void in(StatelessSession session) throws Exception;
    }

    StatelessIT(TestSchema schema) {
        super(schema, Item.class);
    }

    private void commit(Work work) throws Exception {
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            work.in(session);
            session.getTransaction().commit();
        }
    }

    @Test
    @Corner(WRITES)
    void writes() throws Exception {
        Item item = new Item(1);
        commit(session -> session.insert(item));
        item.text = "x";
        commit(session -> session.update(item));
        commit(session -> session.delete(item));
        assertThat(changes()).containsExactly("Item 1 PERSIST", "Item 1 REMOVE", "Item 1 UPDATE");
    }

    @Test
    @Corner(UPSERT)
    void upsert() throws Exception {
        commit(session -> session.upsert(new Item(1)));
        assertThat(changes()).hasSize(1).first().asString().matches("Item 1 (PERSIST|UPDATE)");
    }

    @Test
    @Corner(MULTIPLE)
    void multiple() throws Exception {
        List<Item> items = List.of(new Item(1), new Item(2));
        for (String method : List.of("insertMultiple", "updateMultiple", "deleteMultiple")) {
            commit(session -> StatelessSession.class.getMethod(method, List.class).invoke(session, items));
        }
        assertThat(changes())
                .containsExactly(
                        "Item 1 PERSIST",
                        "Item 1 REMOVE",
                        "Item 1 UPDATE",
                        "Item 2 PERSIST",
                        "Item 2 REMOVE",
                        "Item 2 UPDATE");
    }

    @Test
    @Corner(SUPPRESS)
    @SuppressWarnings("try") // a suppression need not be asked
    void suppress() throws Exception {
        JpaOutbox outbox = JpaOutbox.of(Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .build());
        commit(session -> {
            try (Suppression silent = outbox.suppress(session, "import")) {
                session.insert(new Item(1));
            }
            session.insert(new Item(2));
        });
        assertThat(changes()).containsExactly("Item 2 PERSIST");
    }
}
