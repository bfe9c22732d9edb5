package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What payload methods and factories may do and return. */
@Corner("Payloads")
final class PayloadsIT extends ProviderTest {
    @Kind("line")
    record Line(String text) {}

    @Kind("maybe")
    record Maybe(String text) {}

    @Kind("nothing")
    record Nothing(String text) {}

    @Kind("made")
    record Made(String text) {}

    @Kind("gone")
    record Gone(String text) {}

    public static class Factory implements PayloadFactory<Note, Made> {
        @Override
        public List<Made> payloads(EntityChange<Note> change) {
            return List.of(new Made(change.operation() + " " + change.entity().text));
        }
    }

    @Entity(name = "Note")
    @Table(name = "note")
    @OutboxJob(on = Change.PERSIST, payload = Factory.class)
    public static class Note {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "note_ids")
        @SequenceGenerator(name = "note_ids", sequenceName = "note_ids", allocationSize = 10)
        Long id;

        String text;

        @ManyToOne(fetch = FetchType.LAZY)
        Note parent;

        @OneToMany(mappedBy = "parent")
        List<Note> children = new ArrayList<>();

        public Note() {}

        Note(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }

        @OutboxJob(on = Change.PERSIST)
        List<Line> lines() {
            return text.lines().map(Line::new).toList();
        }

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE})
        Optional<Maybe> maybe() {
            return switch (text) {
                case "throws" -> throw new IllegalArgumentException("no such note");
                case "big" -> Optional.of(new Maybe("x".repeat(3_000)));
                case "family" -> Optional.of(new Maybe(children.size() + " of " + parent.text()));
                case "id" -> Optional.of(new Maybe(String.valueOf(id)));
                default -> Optional.empty();
            };
        }

        @OutboxJob(on = Change.REMOVE)
        Gone gone() {
            return new Gone(text);
        }

        @OutboxJob(on = Change.PERSIST)
        Nothing nothing() {
            return text.isEmpty() ? new Nothing("empty") : null;
        }
    }

    PayloadsIT(TestSchema schema) {
        super(schema, Note.class);
        unit.with("rowlock.max-payload-bytes", "2000");
    }

    @Test
    @Corner("a List: a job for each payload, none for an empty one")
    void list() throws Exception {
        unit.commit(em -> em.persist(new Note("a\nb")));
        assertThat(texts("line")).containsExactly("a", "b");
        forgetJobs();
        unit.commit(em -> em.persist(new Note("")));
        assertThat(kinds()).containsExactly("made", "nothing");
    }

    @Test
    @Corner("an Optional: a job where present")
    void optional() throws Exception {
        Long id = unit.answer(em -> {
            Note note = new Note("id");
            em.persist(note);
            em.persist(new Note("x"));
            return note.id;
        });
        assertThat(texts("maybe")).containsExactly(String.valueOf(id));
    }

    @Test
    @Corner("null: no job")
    void nothing() throws Exception {
        unit.commit(em -> em.persist(new Note("x")));
        unit.commit(em -> em.persist(new Note("")));
        assertThat(texts("nothing")).containsExactly("empty");
    }

    @Test
    @Corner("a PayloadFactory makes the payload")
    void factory() throws Exception {
        unit.commit(em -> em.persist(new Note("x")));
        assertThat(texts("made")).containsExactly("PERSIST x");
    }

    @Test
    @Tag("B45")
    @Corner("a payload method may read lazy associations")
    void lazy() throws Exception {
        Long id = unit.answer(em -> {
            Note top = new Note("top");
            em.persist(top);
            Note middle = new Note("middle");
            middle.parent = top;
            em.persist(middle);
            Note child = new Note("child");
            child.parent = middle;
            em.persist(child);
            return middle.id;
        });
        forgetJobs();
        unit.commit(em -> em.find(Note.class, id).text = "family");
        assertThat(texts("maybe")).containsExactly("1 of top");
    }

    @Test
    @Corner("a payload method that throws: all is rolled back")
    void throwing() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.persist(new Note("fine"));
                    em.persist(new Note("throws"));
                }))
                .hasStackTraceContaining("no such note");
        assertNothing();
    }

    @Test
    @Corner("a payload that is too large: all is rolled back")
    void too_large() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    em.persist(new Note("fine"));
                    em.persist(new Note("big"));
                }))
                .hasStackTraceContaining("kind maybe");
        assertNothing();
    }

    private void assertNothing() throws Exception {
        assertThat(kinds()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM note")).isZero();
    }

    @Test
    @Tag("B45")
    @Corner("REMOVE of a reference that was never loaded: a payload method sees its attributes")
    void removed_reference() throws Exception {
        Long id = unit.answer(em -> {
            Note note = new Note("x");
            em.persist(note);
            return note.id;
        });
        unit.commit(em -> em.remove(em.getReference(Note.class, id)));
        assertThat(texts("gone")).containsExactly("x");
    }
}
