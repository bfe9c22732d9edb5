package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CascadeType;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.Collections;
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

/** Collections that an entity owns count as its attributes. */
@Corner("Collections")
@Tag("B35")
final class CollectionsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Embeddable
    public static class Labels {
        @ElementCollection
        Set<String> marks = new HashSet<>();
    }

    @Entity(name = "Note")
    @Table(name = "note")
    public static class Note {
        @Id
        int id;

        @ManyToOne
        Album album;

        public Note() {}

        Note(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Album")
    @Table(name = "album")
    @OutboxJob(
            kind = "changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    @OutboxJob(kind = "tags", on = Change.UPDATE, changed = "tags")
    @OutboxJob(kind = "sizes", on = Change.UPDATE, changed = "sizes")
    @OutboxJob(kind = "tracks", on = Change.UPDATE, changed = "tracks")
    @OutboxJob(kind = "marks", on = Change.UPDATE, changed = "labels.marks")
    @OutboxJob(kind = "read", on = Change.UPDATE, changed = "read")
    @OutboxJob(kind = "own", on = Change.UPDATE, changed = "own")
    @OutboxJob(kind = "but-tags", on = Change.UPDATE, ignoring = "tags")
    public static class Album {
        @Id
        int id;

        String name;

        @ElementCollection
        Set<String> tags = new HashSet<>();

        @ElementCollection
        Map<String, String> sizes = new HashMap<>();

        @ElementCollection
        @OrderColumn
        List<String> tracks = new ArrayList<>();

        @Embedded
        Labels labels = new Labels();

        @ManyToMany
        List<Note> read = new ArrayList<>();

        @OneToMany(cascade = CascadeType.ALL)
        @JoinColumn
        List<Note> own = new ArrayList<>();

        @OneToMany(mappedBy = "album")
        List<Note> mapped = new ArrayList<>();

        @OutboxJob(on = Change.UPDATE, changed = "tags")
        Told told(EntityChange<Album> change) {
            String old = change.knowsOldValue("tags") ? sorted(change.oldValue("tags")) : "?";
            return new Told(old + "->" + sorted(change.newValue("tags")));
        }

        private static String sorted(Object texts) {
            return new TreeSet<>((Set<?>) texts).toString();
        }
    }

    @Entity(name = "Shelf")
    @Table(name = "shelf")
    @OutboxJob(
            kind = "shelf",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    @OutboxJob(kind = "shelf-name", on = Change.UPDATE, changed = "name")
    public static class Shelf {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        @Version
        int version;

        String name;

        @ElementCollection
        Set<String> books = new HashSet<>(Set.of("Emma"));
    }

    CollectionsIT(TestSchema schema) {
        super(schema, Album.class, Labels.class, Note.class, Shelf.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Note(1));
            em.persist(new Note(2));
            Album album = new Album();
            album.id = 1;
            album.tags.add("a");
            album.tracks.addAll(List.of("x", "y"));
            album.labels.marks.add("m");
            em.persist(album);
        });
        forgetJobs();
    }

    private List<String> kindsBy(Consumer<Album> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Album.class, 1)));
        return kinds();
    }

    @Test
    @Corner("an element collection alone: UPDATE of its owner, also without a version")
    void elements() throws Exception {
        assertThat(kindsBy(album -> album.tags.add("b"))).containsExactly("changed", "tags", "told");
        assertThat(kindsBy(album -> album.sizes.put("k", "v"))).containsExactly("but-tags", "changed", "sizes");
    }

    @Test
    @Corner("an element collection: old and new values")
    void values() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).tags.add("b"));
        assertThat(texts("told")).containsExactly("[a]->[a, b]");
    }

    @Test
    @Corner("an owned @ManyToMany: UPDATE of its owner")
    void many_to_many() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).read.add(em.find(Note.class, 1)));
        assertThat(kinds()).containsExactly("but-tags", "changed", "read");
    }

    @Test
    @Corner("an owned @OneToMany with a join column: UPDATE of its owner")
    void one_to_many() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).own.add(em.find(Note.class, 1)));
        assertThat(kinds()).containsExactly("but-tags", "changed", "own");
        assertThat(kindsBy(album -> album.own.clear())).containsExactly("but-tags", "changed", "own");
    }

    @Test
    @Corner("a `mappedBy` collection: no UPDATE of its owner")
    void mapped_by() throws Exception {
        unit.commit(em -> {
            Album album = em.find(Album.class, 1);
            Note note = em.find(Note.class, 1);
            album.mapped.add(note);
            note.album = album;
        });
        assertThat(kinds()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM note WHERE album_id = 1")).isEqualTo(1);
    }

    @Test
    @Corner("a collection and attributes in one flush: one UPDATE")
    void together() throws Exception {
        assertThat(kindsBy(album -> {
                    album.name = "new";
                    album.tags.clear();
                    album.sizes.put("k", "v");
                    album.tracks.remove(0);
                    album.labels.marks.add("n");
                }))
                .containsExactly("but-tags", "changed", "marks", "sizes", "tags", "told", "tracks");
    }

    @Test
    @Corner("an equal collection put in place of another: no job")
    void equal_collection() throws Exception {
        assertThat(kindsBy(album -> album.tags = new HashSet<>(album.tags))).isEmpty();
        assertThat(kindsBy(album -> {
                    album.tags.remove("a");
                    album.tags.add("a");
                }))
                .isEmpty();
    }

    @Test
    @Corner("an entity stored or removed with its collections: one job")
    void with_the_entity() throws Exception {
        assertThat(changesBy(em -> {
                    Album album = new Album();
                    album.id = 2;
                    album.tags.add("x");
                    em.persist(album);
                }))
                .containsExactly("Album 2 PERSIST");
        assertThat(changesBy(em -> em.remove(em.find(Album.class, 2)))).containsExactly("Album 2 REMOVE");
    }

    @Test
    @Corner("merge of a detached entity with collections: UPDATE where they differ, else no job")
    void merge() throws Exception {
        Album detached = new Album();
        detached.id = 1;
        detached.tags.add("a");
        detached.tracks.addAll(List.of("x", "y"));
        detached.labels.marks.add("m");
        assertThat(changesBy(em -> em.merge(detached))).isEmpty();
        detached.tags.add("z");
        unit.commit(em -> em.merge(detached));
        assertThat(kinds()).containsExactly("changed", "tags", "told");
        assertThat(texts("told")).containsExactly("[a]->[a, z]");
    }

    @Test
    @Corner("an ordered list in another order: UPDATE")
    void order() throws Exception {
        assertThat(kindsBy(album -> Collections.reverse(album.tracks)))
                .containsExactly("but-tags", "changed", "tracks");
    }

    @Test
    @Corner("a collection in an embedded object: UPDATE, `changed` by its path")
    void embedded() throws Exception {
        assertThat(kindsBy(album -> album.labels.marks.add("n"))).containsExactly("but-tags", "changed", "marks");
    }

    @Test
    @Corner("another collection put in place: UPDATE with old and new values")
    void replaced() throws Exception {
        unit.commit(em -> {
            Album album = em.find(Album.class, 1);
            assertThat(album.tags).hasSize(1);
            album.tags = new HashSet<>(Set.of("c"));
        });
        assertThat(kinds()).containsExactly("changed", "tags", "told");
        assertThat(texts("told")).containsExactly("[a]->[c]");
    }

    @Test
    @Corner("a collection put in place of one that was not loaded: UPDATE, its old value unknown")
    void replaced_unloaded() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).tags = new HashSet<>(Set.of("a")));
        assertThat(texts("told")).containsExactly("?->[a]");
    }

    private Shelf shelf() {
        return unit.answer(em -> {
            Shelf shelf = new Shelf();
            em.persist(shelf);
            return shelf;
        });
    }

    @Test
    @Corner("an entity with IDENTITY stored with its collection: PERSIST alone")
    void identity() throws Exception {
        Shelf shelf = shelf();
        assertThat(changes()).containsExactly("Shelf " + shelf.id + " PERSIST");
    }

    @Test
    @Corner("a collection of a versioned owner: one UPDATE, of no other attribute")
    void versioned() throws Exception {
        Shelf shelf = shelf();
        assertThat(changesBy(em -> em.find(Shelf.class, shelf.id).books.add("Persuasion")))
                .containsExactly("Shelf " + shelf.id + " UPDATE");
        assertThat(kinds()).containsExactly("shelf");
    }
}
