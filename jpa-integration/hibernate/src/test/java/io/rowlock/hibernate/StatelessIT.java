package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What a StatelessSession writes, of many rows at once too, has its jobs or fails. Jakarta Data repositories write through
 * one.
 */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B15")
final class StatelessIT {
    @Entity(name = "Item")
    @Table(name = "item")
    @OutboxJob(
            kind = "item",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Item {
        @Id
        int id;

        String text;

        @ElementCollection
        Set<String> tags = new HashSet<>(Set.of("a"));

        Item() {}

        Item(int id) {
            this.id = id;
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    StatelessIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Item.class).with("hibernate.jdbc.batch_size", 10);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        for (String table : List.of("item_tags", "item", "rowlock_job")) {
            schema.execute("DELETE FROM " + table);
        }
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private StatelessSession open() {
        StatelessSession session = unit.factory().unwrap(SessionFactory.class).openStatelessSession();
        session.beginTransaction();
        return session;
    }

    /** Compiled on Hibernate 6.6, which does not have these methods. */
    private static void callMultiple(StatelessSession session, String method, List<?> entities) throws Exception {
        StatelessSession.class.getMethod(method, List.class).invoke(session, entities);
    }

    private static boolean knowsMultiple() {
        return List.of(StatelessSession.class.getMethods()).stream()
                .anyMatch(method -> method.getName().equals("insertMultiple"));
    }

    private List<String> changes() throws Exception {
        return schema.list(
                String.class, "SELECT (payload->>'id') || ' ' || (payload->>'change') FROM rowlock_job ORDER BY id");
    }

    @Test
    void many_at_once_have_a_job_each_or_fail() throws Exception {
        if (!knowsMultiple()) {
            return;
        }
        List<Item> items = List.of(new Item(1), new Item(2), new Item(3));
        try (StatelessSession session = open()) {
            if (!AtOnceIT.statelessIsSeen()) {
                assertThatThrownBy(() -> callMultiple(session, "insertMultiple", items))
                        .hasRootCauseInstanceOf(InvalidUseException.class);
                session.getTransaction().rollback();
                return;
            }
            callMultiple(session, "insertMultiple", items);
            callMultiple(session, "updateMultiple", items);
            callMultiple(session, "deleteMultiple", items);
            session.getTransaction().commit();
        }
        assertThat(changes())
                .containsExactlyInAnyOrder(
                        "1 PERSIST",
                        "2 PERSIST",
                        "3 PERSIST",
                        "1 UPDATE",
                        "2 UPDATE",
                        "3 UPDATE",
                        "1 REMOVE",
                        "2 REMOVE",
                        "3 REMOVE");
    }

    @Test
    void insert_in_batches_is_no_job_without_its_row() throws Exception {
        if (!AtOnceIT.statelessIsSeen()) {
            return;
        }
        try (StatelessSession session = open()) {
            for (int id = 1; id <= 25; id++) {
                session.insert(new Item(id));
            }
            session.getTransaction().commit();
        }
        assertThat(changes()).hasSize(25);
        assertThat(schema.count("SELECT count(*) FROM item")).isEqualTo(25);
        try (StatelessSession session = open()) {
            session.insert(new Item(26));
            session.getTransaction().rollback();
        }
        assertThat(changes()).hasSize(25);
    }

    @Test
    void update_writes_the_row_as_a_whole_so_it_is_one_job_of_unknown_attributes() throws Exception {
        if (!AtOnceIT.statelessIsSeen()) {
            return;
        }
        unit.commit(em -> em.persist(new Item(1)));
        schema.execute("DELETE FROM rowlock_job");
        try (StatelessSession session = open()) {
            Item item = session.get(Item.class, 1);
            session.fetch(item.tags);
            item.tags.add("b");
            session.update(item);
            session.getTransaction().commit();
        }
        assertThat(changes()).containsExactly("1 UPDATE");
    }
}
