package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FlushModeType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.MapsId;
import jakarta.persistence.OneToOne;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every job has the final id, however ids are made. */
@Corner("Ids")
@Tag("B34")
final class IdsIT extends ProviderTest {
    @MappedSuperclass
    @OutboxJob(
            kind = "any",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public abstract static class Base {
        String text;
    }

    @Entity(name = "Pooled")
    @Table(name = "pooled")
    public static class Pooled extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "pooled_ids")
        @SequenceGenerator(name = "pooled_ids", sequenceName = "pooled_ids", allocationSize = 50)
        Long id;
    }

    @Entity(name = "Random")
    @Table(name = "random_one")
    public static class Random extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.UUID)
        UUID id;
    }

    @Entity(name = "Assigned")
    @Table(name = "assigned")
    public static class Assigned extends Base {
        @Id
        String id;
    }

    @Entity(name = "Numbered")
    @Table(name = "numbered")
    public static class Numbered extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
    }

    @Entity(name = "Tagged")
    @Table(name = "tagged")
    public static class Tagged extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        @ElementCollection
        Set<String> words = new HashSet<>(Set.of("first"));

        @ManyToOne(cascade = CascadeType.PERSIST)
        Tagged above;

        Tagged() {}

        Tagged(Tagged above) {
            this.above = above;
        }
    }

    @Embeddable
    public static class Place implements Serializable {
        private static final long serialVersionUID = 1L;

        @Column(name = "place_row")
        int row;

        String hall;

        @Override
        public boolean equals(Object other) {
            return other instanceof Place place && place.row == row && Objects.equals(place.hall, hall);
        }

        @Override
        public int hashCode() {
            return row;
        }
    }

    @Entity(name = "Seat")
    @Table(name = "seat")
    public static class Seat extends Base {
        @EmbeddedId
        Place place = new Place();
    }

    @Entity(name = "Locker")
    @Table(name = "locker")
    @OutboxJob(
            kind = "locker",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            orderedBy = "place.hall",
            subject = "place.row")
    public static class Locker {
        @EmbeddedId
        Place place = new Place();

        String text;
    }

    public static class LineId implements Serializable {
        private static final long serialVersionUID = 1L;
        Long pooled;
        int number;

        @Override
        public boolean equals(Object other) {
            return other instanceof LineId id && id.number == number && Objects.equals(id.pooled, pooled);
        }

        @Override
        public int hashCode() {
            return number;
        }
    }

    @Entity(name = "OrderLine")
    @Table(name = "order_line")
    @IdClass(LineId.class)
    public static class OrderLine extends Base {
        @Id
        @ManyToOne
        Pooled pooled;

        @Id
        int number;
    }

    @Entity(name = "Detail")
    @Table(name = "detail")
    public static class Detail extends Base {
        @Id
        Long id;

        @MapsId
        @OneToOne
        Pooled pooled;
    }

    IdsIT(TestSchema schema) {
        super(
                schema,
                Base.class,
                Pooled.class,
                Random.class,
                Assigned.class,
                Numbered.class,
                Tagged.class,
                Place.class,
                Seat.class,
                Locker.class,
                OrderLine.class,
                Detail.class);
    }

    /** Stores, changes and removes an entity; each of its jobs names the same id. */
    private <T extends Base> void assertId(T entity, Supplier<?> id) throws Exception {
        forgetJobs();
        unit.commit(em -> em.persist(entity));
        unit.commit(em -> em.merge(entity).text = "x");
        entity.text = "x";
        unit.commit(em -> em.remove(em.merge(entity)));
        assertThat(ids()).containsExactly(id.get() + " PERSIST", id.get() + " UPDATE", id.get() + " REMOVE");
    }

    private List<String> ids() throws Exception {
        return schema.list(
                String.class, "SELECT (payload->>'id') || ' ' || (payload->>'change') FROM rowlock_job ORDER BY id");
    }

    private Pooled pooled() throws Exception {
        Pooled pooled = new Pooled();
        unit.commit(em -> em.persist(pooled));
        forgetJobs();
        return pooled;
    }

    @Test
    @Corner("SEQUENCE")
    void sequence() throws Exception {
        Pooled pooled = new Pooled();
        assertId(pooled, () -> pooled.id);
    }

    @Test
    @Corner("IDENTITY")
    void identity() throws Exception {
        Numbered numbered = new Numbered();
        assertId(numbered, () -> numbered.id);
    }

    @Test
    @Corner("UUID")
    void uuid() throws Exception {
        Random random = new Random();
        assertId(random, () -> random.id);
    }

    @Test
    @Corner("assigned by the application")
    void assigned() throws Exception {
        Assigned assigned = new Assigned();
        assigned.id = "DE-1";
        assertId(assigned, () -> "DE-1");
    }

    @Test
    @Corner("@EmbeddedId: a JSON object")
    void embedded_id() throws Exception {
        Seat seat = new Seat();
        seat.place.row = 7;
        seat.place.hall = "A\"1";
        assertId(seat, () -> "{\"hall\":\"A\\\"1\",\"row\":7}");
    }

    @Test
    @Corner("@EmbeddedId: ordering key and subject by parts of it")
    void parts_of_embedded_id() throws Exception {
        Locker locker = new Locker();
        locker.place.hall = "A";
        locker.place.row = 7;
        unit.commit(em -> em.persist(locker));
        unit.commit(em -> em.find(Locker.class, locker.place).text = "x");
        unit.commit(em -> em.remove(em.find(Locker.class, locker.place)));
        assertThat(schema.list(String.class, "SELECT concat_ws(' ', ordering_key, subject) FROM rowlock_job"))
                .hasSize(3)
                .containsOnly("Locker.place.hall:A Locker.place.row:7");
    }

    @Test
    @Corner("@IdClass with a reference: a JSON object with the id of what it refers to")
    void id_class() throws Exception {
        Pooled pooled = pooled();
        unit.commit(em -> {
            OrderLine line = new OrderLine();
            line.pooled = em.find(Pooled.class, pooled.id);
            line.number = 3;
            em.persist(line);
        });
        assertThat(ids()).containsExactly("{\"number\":3,\"pooled\":" + pooled.id + "} PERSIST");
    }

    @Test
    @Corner("@MapsId")
    void maps_id() throws Exception {
        unit.commit(em -> {
            Detail detail = new Detail();
            detail.pooled = new Pooled();
            em.persist(detail.pooled);
            em.persist(detail);
        });
        assertThat(schema.list(String.class, "SELECT subject FROM rowlock_job ORDER BY subject"))
                .containsExactlyElementsOf(schema.list(
                        String.class,
                        "SELECT kind || id FROM (SELECT 'Detail:' AS kind, pooled_id AS id FROM detail UNION ALL SELECT"
                                + " 'Pooled:', id FROM pooled) found ORDER BY 1"))
                .hasSize(2);
    }

    @Test
    @Corner("IDENTITY, persisted and removed in one flush: both jobs or none, as the row was inserted or not")
    void identity_removed_at_once() throws Exception {
        Numbered kept = new Numbered();
        unit.commit(em -> {
            Numbered numbered = new Numbered();
            em.persist(numbered);
            em.remove(numbered);
            em.persist(kept);
        });
        List<String> others = ids();
        assertThat(others.remove(kept.id + " PERSIST")).isTrue();
        assertThat(others)
                .satisfiesAnyOf(
                        none -> assertThat(none).isEmpty(),
                        both -> assertThat(both).hasSize(2).first().asString().endsWith("PERSIST"));
        assertThat(others).allMatch(job -> job.endsWith("PERSIST") || job.endsWith("REMOVE"));
    }

    /** Stores entities, and queries others before it commits. */
    private List<String> changesBeforeQueries(Consumer<EntityManager> work) throws Exception {
        return changesBy(em -> {
            work.accept(em);
            for (int i = 0; i < 2; i++) {
                em.createQuery("select a from Assigned a", Assigned.class).getResultList();
            }
        });
    }

    @Test
    @Corner("IDENTITY with a collection, then a query before the commit: PERSIST alone")
    void identity_before_a_query() throws Exception {
        List<Consumer<EntityManager>> ways = List.of(
                em -> em.persist(new Tagged(null)),
                em -> em.merge(new Tagged(null)),
                em -> em.persist(new Tagged(new Tagged(null))),
                em -> {
                    em.setFlushMode(FlushModeType.COMMIT);
                    em.persist(new Tagged(null));
                });
        for (Consumer<EntityManager> way : ways) {
            assertThat(changesBeforeQueries(way)).isNotEmpty().allMatch(change -> change.endsWith("PERSIST"));
        }
        assertThat(changesBeforeQueries(
                        em -> em.createQuery("select t from Tagged t", Tagged.class).getResultList().stream()
                                .limit(1)
                                .forEach(tagged -> tagged.words.add("later"))))
                .hasSize(1)
                .allMatch(change -> change.endsWith("UPDATE"));
    }

    @Test
    @Corner("IDENTITY, rolled back: no job")
    void identity_rolled_back() throws Exception {
        unit.rollBack(em -> em.persist(new Numbered()));
        unit.commit(em -> em.persist(new Numbered()));
        assertThat(ids()).hasSize(1);
    }

    @Test
    @Corner("an id that no subject may hold: its hash there, the id in the payload")
    void hashed() throws Exception {
        for (String id : List.of("tab\there", "x".repeat(250))) {
            Assigned assigned = new Assigned();
            assigned.id = id;
            unit.commit(em -> em.persist(assigned));
        }
        assertThat(ids()).containsExactly("tab\there PERSIST", "x".repeat(250) + " PERSIST");
        assertThat(schema.list(String.class, "SELECT DISTINCT subject FROM rowlock_job"))
                .hasSize(2)
                .allMatch(subject -> subject.matches("Assigned:#[0-9a-f]{32}"));
    }
}
