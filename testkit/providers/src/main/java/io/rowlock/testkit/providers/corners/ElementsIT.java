package io.rowlock.testkit.providers.corners;

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
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Collections are compared by their rows, whatever the equals of their elements says. */
@Corner("Collections")
@Tag("B35")
final class ElementsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals. */
    @Embeddable
    public static class Line {
        String text;

        public Line() {}

        Line(String text) {
            this.text = text;
        }
    }

    /** Has no equals either. */
    public static class Color {
        final int rgb;

        Color(int rgb) {
            this.rgb = rgb;
        }
    }

    @Converter
    public static class ColorConverter implements AttributeConverter<Color, Integer> {
        @Override
        public Integer convertToDatabaseColumn(Color color) {
            return color == null ? null : color.rgb;
        }

        @Override
        public Color convertToEntityAttribute(Integer rgb) {
            return rgb == null ? null : new Color(rgb);
        }
    }

    @Entity(name = "Poster")
    @Table(name = "poster")
    public static class Poster {
        @Id
        int id;

        @ElementCollection
        Map<String, Line> lines = new HashMap<>(Map.of("head", new Line("h")));

        @ElementCollection
        Set<Line> notes = new HashSet<>(Set.of(new Line("n")));

        @ElementCollection
        @OrderColumn
        List<Line> steps = new ArrayList<>(List.of(new Line("1"), new Line("2")));

        @ElementCollection
        @Convert(converter = ColorConverter.class)
        List<Color> colors = new ArrayList<>(List.of(new Color(1), new Color(2), new Color(2)));

        @ElementCollection
        List<byte[]> prints = new ArrayList<>(List.of(new byte[] {1}, new byte[] {2}));

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Poster> change) {
            return new Told(new TreeSet<>(change.dirtyAttributes()).toString());
        }
    }

    ElementsIT(TestSchema schema) {
        super(schema, Poster.class, Line.class, ColorConverter.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Poster()));
        forgetJobs();
    }

    private List<String> toldBy(Consumer<Poster> work) throws Exception {
        forgetJobs();
        unit.commit(em -> {
            Poster poster = em.find(Poster.class, 0);
            load(poster);
            work.accept(poster);
        });
        return texts("told");
    }

    private static void load(Poster poster) {
        int size = poster.lines.size() + poster.notes.size() + poster.steps.size() + poster.colors.size();
        assertThat(size + poster.prints.size()).isEqualTo(9);
    }

    @Test
    @Corner("elements without equals, embedded or converted, that are read: no job")
    void read() throws Exception {
        assertThat(toldBy(poster -> {})).isEmpty();
    }

    @Test
    @Corner("elements without equals: merge of what is stored already: no job, of others: UPDATE")
    void merge() throws Exception {
        Poster detached = unit.answer(em -> {
            Poster poster = em.find(Poster.class, 0);
            load(poster);
            return poster;
        });
        unit.commit(em -> em.merge(detached));
        assertThat(texts("told")).isEmpty();
        detached.lines.get("head").text = "new";
        detached.steps = new ArrayList<>(List.of(new Line("2"), new Line("1")));
        unit.commit(em -> em.merge(detached));
        assertThat(texts("told")).containsExactly("[lines, steps]");
    }

    @Test
    @Corner("elements without equals in place of those stored alike: no job, of others: UPDATE")
    void replaced() throws Exception {
        assertThat(toldBy(poster -> {
                    poster.lines = new HashMap<>(Map.of("head", new Line("h")));
                    poster.notes = new HashSet<>(Set.of(new Line("n")));
                    poster.steps = new ArrayList<>(List.of(new Line("1"), new Line("2")));
                    poster.prints = new ArrayList<>(List.of(new byte[] {1}, new byte[] {2}));
                }))
                .isEmpty();
        assertThat(toldBy(poster -> poster.notes = new HashSet<>(Set.of(new Line("other")))))
                .containsExactly("[notes]");
        assertThat(toldBy(poster -> poster.lines = new HashMap<>(Map.of("foot", new Line("h")))))
                .containsExactly("[lines]");
    }

    @Test
    @Corner("a collection without an order column in another order: no job, an element more often: UPDATE")
    void order() throws Exception {
        assertThat(toldBy(poster -> {
                    poster.colors = new ArrayList<>(List.of(new Color(2), new Color(1), new Color(2)));
                    poster.prints = new ArrayList<>(List.of(new byte[] {2}, new byte[] {1}));
                }))
                .isEmpty();
        assertThat(toldBy(poster -> {
                    poster.colors = new ArrayList<>(List.of(new Color(1), new Color(1), new Color(2)));
                    poster.prints.set(0, new byte[] {3});
                }))
                .containsExactly("[colors, prints]");
    }
}
