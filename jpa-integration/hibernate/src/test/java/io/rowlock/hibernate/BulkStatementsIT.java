package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.BulkStatementMet;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.Suppression;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.Table;
import jakarta.persistence.criteria.CriteriaDelete;
import jakarta.persistence.criteria.CriteriaUpdate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.annotations.SoftDelete;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Bulk statements, which make no jobs, do not pass in silence. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B05")
@SuppressWarnings("try") // a suppression need not be asked
final class BulkStatementsIT {
    @Entity(name = "Note")
    @Table(name = "note")
    @OutboxJob(
            kind = "note",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    @OutboxJob(kind = "note-renamed", on = Change.UPDATE, changed = "text")
    static class Note {
        @Id
        int id;

        String text;

        @ElementCollection
        Set<String> tags = new HashSet<>();
    }

    @Entity(name = "Plain")
    @Table(name = "plain")
    static class Plain {
        @Id
        int id;

        String text;
    }

    @Entity(name = "Letter")
    @Table(name = "letter")
    @SoftDelete
    @OutboxJob(kind = "letter-updated", on = Change.UPDATE)
    @OutboxJob(kind = "letter-removed", on = Change.REMOVE)
    static class Letter {
        @Id
        int id;

        String text;
    }

    @Entity(name = "Animal")
    @Table(name = "animal")
    @Inheritance(strategy = InheritanceType.JOINED)
    static class Animal {
        @Id
        int id;

        String name;
    }

    @Entity(name = "Cat")
    @Table(name = "cat")
    @OutboxJob(
            kind = "cat",
            on = {Change.UPDATE, Change.REMOVE})
    static class Cat extends Animal {
        int lives;
    }

    @Entity(name = "Dog")
    @Table(name = "dog")
    @OutboxJob(
            kind = "dog",
            on = {Change.UPDATE, Change.REMOVE})
    static class Dog extends Animal {
        int bones;
    }

    @Entity(name = "Payment")
    @Table(name = "payment")
    static class Payment {
        @Id
        int id;

        int amount;
    }

    @Entity(name = "CardPayment")
    @OutboxJob(kind = "card", on = Change.UPDATE)
    static class CardPayment extends Payment {
        String card;
    }

    @Entity(name = "Shape")
    @Table(name = "shape")
    @Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
    static class Shape {
        @Id
        int id;

        String color;
    }

    @Entity(name = "Circle")
    @Table(name = "circle")
    @OutboxJob(kind = "circle", on = Change.UPDATE)
    static class Circle extends Shape {}

    @Entity(name = "Square")
    @Table(name = "square")
    static class Square extends Shape {}

    private static final Class<?>[] ENTITIES = {
        Note.class,
        Plain.class,
        Letter.class,
        Animal.class,
        Cat.class,
        Dog.class,
        Payment.class,
        CardPayment.class,
        Shape.class,
        Circle.class,
        Square.class
    };

    private final TestSchema schema;
    private final TestUnit unit;
    private final List<BulkStatementMet> met = new ArrayList<>();
    private JpaOutbox outbox;

    BulkStatementsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, ENTITIES);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        outbox = JpaOutbox.of(Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .listener(event -> {
                    if (event instanceof BulkStatementMet statement) {
                        met.add(statement);
                    }
                })
                .build());
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM note_tags");
        schema.execute("DELETE FROM note");
        met.clear();
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private List<String> met(Consumer<EntityManager> work) {
        met.clear();
        unit.commit(work);
        return met.stream()
                .map(each -> each.entity() + " " + each.change() + " "
                        + each.kinds().stream().sorted().toList())
                .sorted()
                .toList();
    }

    private List<String> metByHql(String statement) {
        return met(em -> em.createQuery(statement).executeUpdate());
    }

    private List<String> metBySql(String statement) {
        return met(em -> em.createNativeQuery(statement).executeUpdate());
    }

    @Test
    void hql_is_told_with_entity_change_and_the_kinds_that_are_not_written() {
        assertThat(metByHql("update Note n set n.text = 'x'")).containsExactly("Note UPDATE [note, note-renamed]");
        assertThat(metByHql("delete from Note n where n.text = 'x'")).containsExactly("Note REMOVE [note]");
        assertThat(metByHql("insert into Note (id, text) select p.id, p.text from Plain p"))
                .containsExactly("Note PERSIST [note]");
    }

    @Test
    void criteria_are_told() {
        assertThat(met(em -> {
                    CriteriaUpdate<Note> update = em.getCriteriaBuilder().createCriteriaUpdate(Note.class);
                    update.from(Note.class);
                    em.createQuery(update.set("text", "x")).executeUpdate();
                }))
                .containsExactly("Note UPDATE [note, note-renamed]");
        assertThat(met(em -> {
                    CriteriaDelete<Note> delete = em.getCriteriaBuilder().createCriteriaDelete(Note.class);
                    delete.from(Note.class);
                    em.createQuery(delete).executeUpdate();
                }))
                .containsExactly("Note REMOVE [note]");
    }

    @Test
    void native_statements_are_told_also_as_queries_that_return_what_they_changed() {
        assertThat(metBySql("UPDATE " + schema.name() + ".\"note\" SET text = 'x'"))
                .containsExactly("Note UPDATE [note, note-renamed]");
        assertThat(metBySql("INSERT INTO note(id) VALUES (1) ON CONFLICT (id) DO UPDATE SET text = 'x'"))
                .containsExactly("Note PERSIST [note]", "Note UPDATE [note, note-renamed]");
        assertThat(met(em ->
                        em.createNativeQuery("DELETE FROM note RETURNING id").getResultList()))
                .containsExactly("Note REMOVE [note]");
        assertThat(met(em -> em.createNativeQuery("WITH gone AS (DELETE FROM note RETURNING id) SELECT id FROM gone")
                        .getResultList()))
                .containsExactly("Note REMOVE [note]");
    }

    @Test
    void joined_tables_tell_of_the_entities_that_the_statement_goes_down_to() {
        assertThat(metByHql("delete from Cat")).containsExactly("Cat REMOVE [cat]");
        assertThat(metByHql("delete from Animal")).containsExactly("Cat REMOVE [cat]", "Dog REMOVE [dog]");
        assertThat(metByHql("update Dog d set d.bones = 1, d.name = 'x'")).containsExactly("Dog UPDATE [dog]");
        assertThat(metBySql("update animal set name = 'x'"))
                .as("which animals, nobody knows")
                .containsExactly("Cat UPDATE [cat]", "Dog UPDATE [dog]");
    }

    @Test
    void single_table_tells_of_all_its_entities() {
        assertThat(metByHql("update Payment p set p.amount = 0")).containsExactly("CardPayment UPDATE [card]");
    }

    @Test
    void table_for_each_class_tells_of_the_tables_that_are_changed() {
        assertThat(metByHql("update Shape s set s.color = 'red'")).containsExactly("Circle UPDATE [circle]");
        assertThat(metByHql("update Square s set s.color = 'red'")).isEmpty();
        assertThat(metBySql("update shape set color = 'red'"))
                .as("no circle lies in it")
                .isEmpty();
    }

    @Test
    void soft_delete_is_a_removal_and_no_update() {
        assertThat(metByHql("delete from Letter")).containsExactly("Letter REMOVE [letter-removed]");
        assertThat(metByHql("update Letter l set l.text = 'x'")).containsExactly("Letter UPDATE [letter-updated]");
        assertThat(metBySql("update letter set deleted = false, text = 'x'"))
                .as("may be either")
                .containsExactlyInAnyOrder("Letter UPDATE [letter-updated]", "Letter REMOVE [letter-removed]");
    }

    @Test
    void stateless_session_is_heard_too() {
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            session.createMutationQuery("delete from Note").executeUpdate();
            session.getTransaction().commit();
        }
        assertThat(met).hasSize(1);
    }

    @Test
    void what_concerns_no_annotation_is_not_told() {
        assertThat(metByHql("update Plain p set p.text = 'x'")).isEmpty();
        assertThat(metBySql("insert into circle(id) values (1)")).isEmpty();
        assertThat(met(em -> em.createQuery("select n from Note n", Note.class).getResultList()))
                .isEmpty();
        assertThat(met(em -> {
                    Note note = new Note();
                    note.id = 7;
                    note.tags.add("x");
                    em.persist(note);
                    em.flush();
                    note.text = "changed";
                    em.flush();
                    em.remove(note);
                }))
                .isEmpty();
    }

    @Test
    void suppressed_kinds_are_silent_and_others_are_not() {
        assertThat(met(em -> {
                    try (Suppression silent = outbox.suppress(em, "written by hand", "note", "note-renamed")) {
                        em.createQuery("update Note n set n.text = 'x'").executeUpdate();
                    }
                }))
                .isEmpty();
        assertThat(met(em -> {
                    try (Suppression silent = outbox.suppress(em, "written by hand", "note")) {
                        em.createQuery("update Note n set n.text = 'x'").executeUpdate();
                    }
                }))
                .containsExactly("Note UPDATE [note-renamed]");
    }

    @Test
    void refused_statement_changes_nothing_even_if_the_refusal_is_swallowed() throws Exception {
        schema.execute("INSERT INTO note(id, text) VALUES (1, 'a')");
        schema.execute("INSERT INTO note_tags(note_id, tags) VALUES (1, 'b')");
        try (TestUnit strict = TestUnit.on(schema, ENTITIES).with("rowlock.bulk", "fail")) {
            for (String statement : List.of("delete from Note", "update Note n set n.text = 'x'")) {
                TestUnit.swallowing(() -> strict.commit(
                        em -> assertThatThrownBy(() -> em.createQuery(statement).executeUpdate())
                                .isInstanceOf(InvalidUseException.class)
                                .hasMessageContaining("rows of Note")
                                .hasMessageContaining("rowlock.bulk=fail")
                                .hasMessageContaining("JpaOutbox.suppress")));
            }
            assertThat(schema.list(String.class, "SELECT text || tags FROM note JOIN note_tags ON note_id = id"))
                    .containsExactly("ab");
            strict.commit(
                    em -> em.createQuery("update Plain p set p.text = 'x'").executeUpdate());
            strict.commit(em -> {
                try (Suppression silent = outbox.suppress(em, "written by hand")) {
                    em.createQuery("update Note n set n.text = 'x'").executeUpdate();
                }
            });
        }
        assertThat(schema.count("SELECT count(*) FROM note WHERE text = 'x'")).isEqualTo(1);
    }

    @Test
    void allowed_statement_passes() throws Exception {
        schema.execute("INSERT INTO note(id, text) VALUES (1, 'a')");
        try (TestUnit lax = TestUnit.on(schema, ENTITIES).with("rowlock.bulk", "allow")) {
            List<BulkStatementMet> told = new ArrayList<>();
            Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .persistenceUnit(lax.factory())
                    .listener(event -> told.add((BulkStatementMet) event))
                    .build();
            lax.commit(em -> em.createQuery("update Note n set n.text = 'x'").executeUpdate());
            assertThat(told).isEmpty();
        }
        assertThat(schema.count("SELECT count(*) FROM note WHERE text = 'x'")).isEqualTo(1);
    }
}
