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
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
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
import org.junit.jupiter.api.Test;

/** Collections that an entity owns count as its attributes. */
@Corner("Collections")
final class CollectionsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

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

    CollectionsIT(TestSchema schema) {
        super(schema, Album.class, Note.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Note(1));
            em.persist(new Note(2));
            Album album = new Album();
            album.id = 1;
            album.tags.add("a");
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
                }))
                .containsExactly("but-tags", "changed", "sizes", "tags", "told");
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
        assertThat(changesBy(em -> em.merge(detached))).isEmpty();
        detached.tags.add("z");
        unit.commit(em -> em.merge(detached));
        assertThat(kinds()).containsExactly("changed", "tags", "told");
        assertThat(texts("told")).containsExactly("[a]->[a, z]");
    }
}
