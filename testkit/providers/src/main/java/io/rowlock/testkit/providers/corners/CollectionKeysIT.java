package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Collections whose rows refer to another unique column of their owner than its id. */
@Corner("Collections")
@Tag("B35")
final class CollectionKeysIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Entity(name = "Seat")
    @Table(name = "seat")
    public static class Seat {
        @Id
        int id;

        public Seat() {}

        Seat(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Hall")
    @Table(name = "hall")
    public static class Hall implements Serializable {
        private static final long serialVersionUID = 1L;

        @Id
        int id;

        @Column(unique = true)
        String code = "c";

        @ElementCollection
        @CollectionTable(name = "hall_tag", joinColumns = @JoinColumn(name = "hall", referencedColumnName = "code"))
        Set<String> tags = new HashSet<>(Set.of("a"));

        @OneToMany
        @JoinColumn(name = "hall", referencedColumnName = "code")
        Set<Seat> seats = new HashSet<>();

        @ManyToMany
        @JoinTable(
                name = "hall_spare",
                joinColumns = @JoinColumn(name = "hall", referencedColumnName = "code"),
                inverseJoinColumns = @JoinColumn(name = "seat"))
        Set<Seat> spare = new HashSet<>();

        @OutboxJob(on = {Change.UPDATE, Change.REMOVE})
        Told told(EntityChange<Hall> change) {
            return new Told(change.operation() + " " + new TreeSet<>(change.dirtyAttributes()));
        }
    }

    CollectionKeysIT(TestSchema schema) {
        super(schema, Hall.class, Seat.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Seat(1));
            em.persist(new Hall());
        });
        forgetJobs();
    }

    private List<String> toldBy(BiConsumer<EntityManager, Hall> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em, em.find(Hall.class, 0)));
        return texts("told");
    }

    @Test
    @Corner("an element collection joined by another column than the id: UPDATE of its owner")
    void elements() throws Exception {
        assertThat(toldBy((em, hall) -> hall.tags.add("b"))).containsExactly("UPDATE [tags]");
        assertThat(toldBy((em, hall) -> hall.tags = new HashSet<>(Set.of("z")))).containsExactly("UPDATE [tags]");
        assertThat(toldBy((em, hall) -> hall.tags = null)).containsExactly("UPDATE [tags]");
        assertThat(toldBy((em, hall) -> hall.tags = new HashSet<>(Set.of("z")))).containsExactly("UPDATE [tags]");
        assertThat(toldBy((em, hall) -> hall.tags.clear())).containsExactly("UPDATE [tags]");
    }

    @Test
    @Corner("@OneToMany and @ManyToMany joined by another column than the id: UPDATE of their owner, REMOVE alone")
    void associations() throws Exception {
        assertThat(toldBy((em, hall) -> hall.seats.add(em.find(Seat.class, 1)))).containsExactly("UPDATE [seats]");
        assertThat(toldBy((em, hall) -> hall.spare.add(em.find(Seat.class, 1)))).containsExactly("UPDATE [spare]");
        assertThat(toldBy((em, hall) -> hall.spare.clear())).containsExactly("UPDATE [spare]");
        assertThat(toldBy(EntityManager::remove)).containsExactly("REMOVE []");
    }
}
