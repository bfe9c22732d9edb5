package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an EntityChange tells of a collection before the change. */
@Corner("Collections")
@Tag("B35")
final class OldCollectionsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Entity(name = "Leaf")
    @Table(name = "leaf")
    public static class Leaf {
        @Id
        int id;

        @ManyToOne
        Bush bush;
    }

    /** Its annotation names REMOVE alone. */
    @Entity(name = "Bush")
    @Table(name = "bush")
    public static class Bush {
        @Id
        int id;

        @ElementCollection
        Set<String> tags = new HashSet<>(Set.of("a"));

        @OneToMany(mappedBy = "bush")
        Set<Leaf> leaves = new HashSet<>();

        @OutboxJob(on = Change.REMOVE)
        Told told(EntityChange<Bush> change) {
            return new Told(old(change, "tags") + " " + change.knowsOldValue("leaves"));
        }
    }

    @Entity(name = "Tree")
    @Table(name = "tree")
    public static class Tree {
        @Id
        int id;

        String name = "n";

        @ElementCollection
        Set<String> tags = new HashSet<>(Set.of("a"));

        @ManyToMany
        Set<Leaf> fallen = new HashSet<>();

        @OutboxJob(on = {Change.UPDATE, Change.REMOVE})
        Told told(EntityChange<Tree> change) {
            return new Told(old(change, "tags") + " " + change.knowsOldValue("fallen") + " "
                    + (change.knowsOldValue("name") ? change.oldValue("name") : "unknown"));
        }
    }

    private static String old(EntityChange<?> change, String attribute) {
        return change.operation() + " "
                + (change.knowsOldValue(attribute)
                        ? new TreeSet<>((Collection<?>) change.oldValue(attribute))
                        : "unknown");
    }

    OldCollectionsIT(TestSchema schema) {
        super(schema, Bush.class, Tree.class, Leaf.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Bush());
            em.persist(new Tree());
        });
        forgetJobs();
    }

    private List<String> toldBy(BiConsumer<Bush, Tree> load, BiConsumer<EntityManager, Object> work) throws Exception {
        unit.commit(em -> {
            Bush bush = em.find(Bush.class, 0);
            Tree tree = em.find(Tree.class, 0);
            load.accept(bush, tree);
            work.accept(em, bush);
            work.accept(em, tree);
        });
        return texts("told");
    }

    @Test
    @Corner("EntityChange: a collection that was not loaded is not known, and not read")
    void unloaded() throws Exception {
        assertThat(toldBy((bush, tree) -> tree.name = "o", (em, entity) -> {}))
                .containsExactly("UPDATE unknown false n");
        forgetJobs();
        assertThat(toldBy((bush, tree) -> {}, EntityManager::remove))
                .containsExactly("REMOVE unknown false", "REMOVE unknown false o");
    }

    @Test
    @Corner("EntityChange: a loaded collection of an entity that is removed, changed before or not: as it was stored")
    void loaded() throws Exception {
        assertThat(toldBy(
                        (bush, tree) -> {
                            assertThat(bush.tags).hasSize(1);
                            tree.tags.add("b");
                        },
                        EntityManager::remove))
                .containsExactly("REMOVE [a] false", "REMOVE [a] false n");
    }

    @Test
    @Corner("EntityChange: a read-only entity with collections that is removed: its values are known")
    void read_only() throws Exception {
        unit.commit(em -> {
            Tree tree = em.createQuery("select t from Tree t", Tree.class)
                    .setHint("org.hibernate.readOnly", true)
                    .getSingleResult();
            em.remove(tree);
        });
        assertThat(texts("told")).containsExactly("REMOVE unknown false n");
    }

    @Test
    @Corner("EntityChange: a collection changed, of an entity whose annotation names REMOVE alone: as it was stored")
    void changed_and_removed() throws Exception {
        assertThat(toldBy(
                        (bush, tree) -> {
                            bush.tags.add("b");
                            assertThat(tree.tags).hasSize(1);
                            tree.name = "o";
                        },
                        EntityManager::remove))
                .containsExactly("REMOVE [a] false", "REMOVE [a] false n");
    }
}
