package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.Table;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.hibernate.annotations.DynamicUpdate;
import org.hibernate.annotations.UpdateTimestamp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A timestamp that Hibernate sets at each update changes with it, and is no change of its own. */
@Corner("Hibernate's own mappings")
@Tag("B35")
final class TimestampsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals: a new one makes Hibernate write an update, in which the timestamp alone differs. */
    public static class Label {
        final String text;

        Label(String text) {
            this.text = text;
        }
    }

    @Converter
    public static class LabelConverter implements AttributeConverter<Label, String> {
        @Override
        public String convertToDatabaseColumn(Label label) {
            return label == null ? null : label.text;
        }

        @Override
        public Label convertToEntityAttribute(String text) {
            return text == null ? null : new Label(text);
        }
    }

    @MappedSuperclass
    @OutboxJob(kind = "any", on = Change.UPDATE)
    @OutboxJob(kind = "touched", on = Change.UPDATE, changed = "touched")
    @OutboxJob(kind = "but-visits", on = Change.UPDATE, ignoring = "visits")
    abstract static class Dated {
        @Id
        int id;

        String name = "n";
        int visits;

        @Convert(converter = LabelConverter.class)
        Label label = new Label("l");

        @UpdateTimestamp
        Instant touched;

        @OutboxJob(on = Change.UPDATE, changed = "touched")
        Told told(EntityChange<? extends Dated> change) {
            boolean differs = !Objects.equals(change.oldValue("touched"), change.newValue("touched"));
            return new Told(new TreeSet<>(change.dirtyAttributes()) + " " + change.changed("touched") + " " + differs);
        }
    }

    @Entity(name = "Room")
    @Table(name = "room")
    static class Room extends Dated {}

    @Entity(name = "Door")
    @Table(name = "door")
    @DynamicUpdate
    static class Door extends Dated {}

    TimestampsIT(TestSchema schema) {
        super(schema, Room.class, Door.class, Dated.class, LabelConverter.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Room());
            em.persist(new Door());
        });
        schema.execute("UPDATE room SET touched = '2020-01-01'; UPDATE door SET touched = '2020-01-01'");
        forgetJobs();
    }

    private List<String> kindsBy(Class<? extends Dated> type, Consumer<Dated> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(type, 0)));
        return kinds();
    }

    @Test
    @Corner("@UpdateTimestamp: `changed` may name it, old and new values agree with it")
    void named() throws Exception {
        for (Class<? extends Dated> type : List.of(Room.class, Door.class)) {
            assertThat(kindsBy(type, dated -> dated.name = "o")).containsExactly("any", "but-visits", "told", "touched");
            assertThat(texts("told")).containsExactly("[name, touched] true true");
        }
    }

    @Test
    @Corner("@UpdateTimestamp: no change by itself, unless named")
    void unnamed() throws Exception {
        for (Class<? extends Dated> type : List.of(Room.class, Door.class)) {
            assertThat(kindsBy(type, dated -> dated.visits = 1)).containsExactly("any", "told", "touched");
            assertThat(kindsBy(type, dated -> dated.label = new Label("l"))).containsExactly("told", "touched");
            assertThat(texts("told")).containsExactly("[touched] true true");
        }
    }
}
