package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.hibernate.Hibernate;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Collections that an entity owns count as its attributes, those that others own do not, and equal ones are no change. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B35")
final class CollectionsIT {
    @Kind("told")
    record Told(String text) {}

    @Embeddable
    static class Labels {
        @ElementCollection
        Set<String> marks = new HashSet<>();
    }

    @Entity(name = "Note")
    @Table(name = "note")
    static class Note {
        @Id
        int id;

        @ManyToOne
        Album album;

        Note() {}

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
    @OutboxJob(kind = "marks", on = Change.UPDATE, changed = "labels.marks")
    @OutboxJob(kind = "but-tags", on = Change.UPDATE, ignoring = "tags")
    static class Album {
        @Id
        int id;

        String name;

        @ElementCollection
        Set<String> tags = new HashSet<>();

        @ElementCollection
        @OrderColumn
        List<String> tracks = new ArrayList<>();

        @ElementCollection
        Map<String, String> sizes = new HashMap<>();

        @ManyToMany
        List<Note> read = new ArrayList<>();

        @OneToMany(cascade = CascadeType.ALL, orphanRemoval = true)
        @JoinColumn
        List<Note> own = new ArrayList<>();

        @OneToMany(mappedBy = "album")
        List<Note> mapped = new ArrayList<>();

        @Embedded
        Labels labels = new Labels();

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Album> change) {
            String tags = change.knowsOldValue("tags") ? sorted(change.oldValue("tags")) : "?";
            return new Told(
                    new TreeSet<>(change.dirtyAttributes()) + " " + tags + "->" + sorted(change.newValue("tags")));
        }

        private static String sorted(Object texts) {
            return Hibernate.isInitialized(texts) ? String.valueOf(new TreeSet<>((Set<?>) texts)) : "not loaded";
        }
    }

    @Entity(name = "Log")
    @Table(name = "log")
    @OutboxJob(
            kind = "log",
            on = {Change.PERSIST, Change.UPDATE})
    static class Log {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        @ElementCollection
        List<String> lines = new ArrayList<>();
    }

    private final TestSchema schema;
    private final TestUnit unit;

    CollectionsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Album.class, Note.class, Log.class).with("hibernate.generate_statistics", true);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void fill() throws Exception {
        schema.execute("UPDATE note SET album_id = NULL");
        unit.commit(em -> {
            em.createQuery("select a from Album a", Album.class).getResultList().forEach(em::remove);
            em.flush();
            em.createQuery("select n from Note n", Note.class).getResultList().forEach(em::remove);
            em.flush();
            em.persist(new Note(1));
            em.persist(new Note(2));
            Album album = new Album();
            album.id = 1;
            album.tags.add("a");
            album.tracks.add("x");
            album.tracks.add("y");
            album.labels.marks.add("m");
            em.persist(album);
        });
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private void update(Consumer<Album> work) {
        unit.commit(em -> work.accept(em.find(Album.class, 1)));
    }

    private String told() throws Exception {
        return schema.list(String.class, "SELECT payload->>'text' FROM rowlock_job WHERE kind = 'told'")
                .get(0);
    }

    @Test
    void element_collection_of_an_entity_without_a_version_is_an_update_with_the_values_before_and_after()
            throws Exception {
        update(album -> album.tags.add("b"));
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "tags", "told");
        assertThat(told()).isEqualTo("[tags] [a]->[a, b]");
    }

    @Test
    void several_collections_and_attributes_in_one_flush_are_one_update() throws Exception {
        update(album -> {
            album.name = "new";
            album.tags.clear();
            album.tracks.remove(0);
            album.sizes.put("k", "v");
            album.labels.marks.add("n");
        });
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "tags", "marks", "but-tags", "told");
        assertThat(told()).isEqualTo("[labels.marks, name, sizes, tags, tracks] [a]->[]");
    }

    @Test
    void collection_of_associations_that_the_entity_owns_is_an_update() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).read.add(em.find(Note.class, 1)));
        unit.commit(em -> em.find(Album.class, 1).own.add(em.find(Note.class, 2)));
        assertThat(unit.kinds()).filteredOn("changed"::equals).hasSize(2);
        schema.execute("DELETE FROM rowlock_job");
        update(album -> album.own.clear());
        assertThat(unit.kinds()).contains("changed", "but-tags").doesNotContain("tags");
    }

    @Test
    void mapped_by_side_is_no_update() throws Exception {
        unit.commit(em -> {
            Album album = em.find(Album.class, 1);
            Note note = em.find(Note.class, 1);
            album.mapped.add(note);
            note.album = album;
        });
        assertThat(unit.kinds()).isEmpty();
    }

    @Test
    void order_of_an_ordered_list_counts() throws Exception {
        update(album -> Collections.reverse(album.tracks));
        assertThat(unit.kinds()).contains("changed", "told");
        assertThat(told()).startsWith("[tracks]");
    }

    @Test
    void equal_collection_in_place_of_another_is_no_change() throws Exception {
        update(album -> album.tags = new HashSet<>(album.tags));
        assertThat(unit.kinds()).isEmpty();
        update(album -> {
            album.tags.remove("a");
            album.tags.add("a");
        });
        assertThat(unit.kinds()).isEmpty();
    }

    @Test
    void different_collection_in_place_of_another_tells_both() throws Exception {
        update(album -> {
            assertThat(album.tags).hasSize(1);
            album.tags = new HashSet<>(Set.of("c"));
        });
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "tags", "told");
        assertThat(told()).isEqualTo("[tags] [a]->[c]");
    }

    @Test
    void collection_replaced_before_it_was_loaded_is_a_change_of_unknown_before() throws Exception {
        unit.commit(em -> em.find(Album.class, 1).tags = new HashSet<>(Set.of("a")));
        assertThat(told()).isEqualTo("[tags] ?->[a]");
    }

    @Test
    void merged_graph_with_equal_collections_is_no_change() throws Exception {
        Album detached = new Album();
        detached.id = 1;
        detached.tags.add("a");
        detached.tracks.addAll(List.of("x", "y"));
        detached.labels.marks.add("m");
        unit.commit(em -> em.merge(detached));
        assertThat(unit.kinds()).isEmpty();
        detached.tags.add("z");
        unit.commit(em -> em.merge(detached));
        assertThat(told()).isEqualTo("[tags] [a]->[a, z]");
    }

    @Test
    void new_entity_with_collections_is_one_persist_and_a_removed_one_one_remove() throws Exception {
        unit.commit(em -> {
            Album album = new Album();
            album.id = 2;
            album.tags.add("a");
            em.persist(album);
        });
        unit.commit(em -> em.remove(em.find(Album.class, 2)));
        assertThat(schema.list(String.class, "SELECT payload->>'change' FROM rowlock_job ORDER BY id"))
                .containsExactly("PERSIST", "REMOVE");
    }

    @Test
    void collections_of_an_entity_whose_insert_came_before_the_flush_belong_to_the_insert() throws Exception {
        Long id = unit.commitAnd(em -> {
            Log log = new Log();
            log.lines.add("one");
            em.persist(log);
            return log.id;
        });
        assertThat(unit.kinds()).containsExactly("log");
        unit.commit(em -> em.find(Log.class, id).lines.add("two"));
        assertThat(unit.kinds()).containsExactly("log", "log");
    }

    @Test
    void jobs_load_no_collection() {
        Statistics statistics = unit.factory().unwrap(SessionFactory.class).getStatistics();
        statistics.clear();
        unit.commit(em -> {
            Album album = em.find(Album.class, 1);
            album.name = "other";
        });
        assertThat(statistics.getCollectionFetchCount()).isZero();
        assertThat(statistics.getCollectionLoadCount()).isZero();
    }
}
