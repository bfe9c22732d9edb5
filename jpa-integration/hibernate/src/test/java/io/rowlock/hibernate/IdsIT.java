package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.MapsId;
import jakarta.persistence.OneToOne;
import jakarta.persistence.SequenceGenerator;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Every job has the final id, however ids are made. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B34")
final class IdsIT {
    @MappedSuperclass
    @OutboxJob(kind = "any", on = Change.PERSIST)
    abstract static class Base {}

    @Entity(name = "Pooled")
    static class Pooled extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "pooled_ids")
        @SequenceGenerator(name = "pooled_ids", sequenceName = "pooled_ids", allocationSize = 50)
        Long id;
    }

    @Entity(name = "Random")
    static class Random extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.UUID)
        UUID id;
    }

    @Entity(name = "Assigned")
    static class Assigned extends Base {
        @Id
        String id;
    }

    @Entity(name = "Identity")
    static class Identity extends Base {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Integer id;
    }

    @Embeddable
    static class Place implements Serializable {
        private static final long serialVersionUID = 1L;
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
    static class Seat extends Base {
        @EmbeddedId
        Place place = new Place();
    }

    static class LineId implements Serializable {
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
    @IdClass(LineId.class)
    static class OrderLine extends Base {
        @Id
        @ManyToOne
        Pooled pooled;

        @Id
        int number;
    }

    @Entity(name = "Detail")
    static class Detail extends Base {
        @Id
        Long id;

        @MapsId
        @OneToOne
        Pooled pooled;
    }

    private final TestSchema schema;
    private final TestUnit unit;

    IdsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(
                schema,
                Pooled.class,
                Random.class,
                Assigned.class,
                Identity.class,
                Seat.class,
                OrderLine.class,
                Detail.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private List<String> ids() throws Exception {
        return schema.list(String.class, "SELECT payload->>'id' FROM rowlock_job ORDER BY id");
    }

    private List<String> subjects() throws Exception {
        return schema.list(String.class, "SELECT subject FROM rowlock_job ORDER BY id");
    }

    @Test
    void sequence_uuid_assigned_and_identity() throws Exception {
        Pooled pooled = new Pooled();
        Random random = new Random();
        Assigned assigned = new Assigned();
        assigned.id = "DE-1";
        Identity identity = new Identity();
        unit.commit(em -> {
            em.persist(pooled);
            em.persist(random);
            em.persist(assigned);
            em.persist(identity);
        });
        assertThat(ids())
                .containsExactlyInAnyOrder(
                        String.valueOf(pooled.id), random.id.toString(), "DE-1", String.valueOf(identity.id));
        assertThat(subjects()).contains("Pooled:" + pooled.id, "Random:" + random.id, "Assigned:DE-1");
    }

    @Test
    void composite_ids_are_json_objects_in_which_references_are_ids() throws Exception {
        Pooled pooled = new Pooled();
        unit.commit(em -> {
            em.persist(pooled);
            Seat seat = new Seat();
            seat.place.row = 7;
            seat.place.hall = "A\"1";
            em.persist(seat);
            OrderLine line = new OrderLine();
            line.pooled = pooled;
            line.number = 3;
            em.persist(line);
            Detail detail = new Detail();
            detail.pooled = pooled;
            em.persist(detail);
        });
        assertThat(ids())
                .containsExactlyInAnyOrder(
                        String.valueOf(pooled.id),
                        "{\"hall\":\"A\\\"1\",\"row\":7}",
                        "{\"number\":3,\"pooled\":" + pooled.id + "}",
                        String.valueOf(pooled.id));
    }

    @Test
    void id_that_no_subject_may_hold_is_hashed_there() throws Exception {
        Assigned strange = new Assigned();
        strange.id = "tab\there";
        Assigned longest = new Assigned();
        longest.id = "x".repeat(250);
        unit.commit(em -> {
            em.persist(strange);
            em.persist(longest);
        });
        assertThat(subjects()).allMatch(subject -> subject.matches("Assigned:#[0-9a-f]{32}"));
        assertThat(ids()).containsExactly("tab\there", "x".repeat(250));
    }
}
