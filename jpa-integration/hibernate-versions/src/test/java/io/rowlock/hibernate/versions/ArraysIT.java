package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.hibernate.annotations.CollectionId;
import org.hibernate.annotations.CollectionIdJavaType;
import org.hibernate.type.descriptor.java.LongJavaType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Forms of collections that only Hibernate has. */
@Corner("Hibernate's own mappings")
@Tag("B35")
final class ArraysIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Entity(name = "Sheet")
    @Table(name = "sheet")
    static class Sheet {
        @Id
        int id;

        @ElementCollection
        @OrderColumn
        String[] cells = {"a", "b"};

        @ElementCollection
        @CollectionId(column = @Column(name = "row_id"), generator = "increment")
        @CollectionIdJavaType(LongJavaType.class)
        Collection<String> words = new ArrayList<>(List.of("one", "two"));

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Sheet> change) {
            String words = change.knowsOldValue("words") ? sorted(change.oldValue("words")) : "?";
            String cells = change.knowsOldValue("cells") ? text(change.oldValue("cells")) : "?";
            return new Told(new TreeSet<>(change.dirtyAttributes()) + " " + words + "->"
                    + sorted(change.newValue("words")) + " " + cells + "->" + text(change.newValue("cells")));
        }

        private static String sorted(Object words) {
            return ((Collection<?>) words).stream().sorted().toList().toString();
        }

        private static String text(Object cells) {
            return Arrays.toString((Object[]) cells);
        }
    }

    ArraysIT(TestSchema schema) {
        super(schema, Sheet.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Sheet()));
        forgetJobs();
    }

    private List<String> toldBy(Consumer<Sheet> work) throws Exception {
        forgetJobs();
        unit.commit(em -> {
            Sheet sheet = em.find(Sheet.class, 0);
            assertThat(sheet.words).hasSize(2);
            work.accept(sheet);
        });
        return texts("told");
    }

    @Test
    @Corner("an array of elements: UPDATE with old and new ones, an equal one in its place: no job")
    void array() throws Exception {
        assertThat(toldBy(sheet -> sheet.cells = new String[] {"a", "b"})).isEmpty();
        assertThat(toldBy(sheet -> sheet.cells[0] = "z"))
                .containsExactly("[cells] [one, two]->[one, two] [a, b]->[z, b]");
    }

    @Test
    @Corner("@CollectionId: UPDATE with old and new elements, equal ones in their place: no job")
    void collection_id() throws Exception {
        assertThat(toldBy(sheet -> sheet.words = new ArrayList<>(sheet.words))).isEmpty();
        assertThat(toldBy(sheet -> {
                    sheet.words.remove("one");
                    sheet.words.add("three");
                }))
                .containsExactly("[words] [one, two]->[three, two] [a, b]->[a, b]");
    }
}
