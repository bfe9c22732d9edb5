package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Access;
import jakarta.persistence.AccessType;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Getters through which attributes are read may make a new object at each call. */
@Corner("Changes")
@Tag("B35")
final class GettersIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals. */
    @Embeddable
    @Access(AccessType.FIELD)
    public static class Place {
        String city;
    }

    @Entity(name = "Safe")
    @Table(name = "safe")
    @Access(AccessType.PROPERTY)
    @OutboxJob(kind = "row", on = Change.UPDATE)
    public static class Safe {
        private int id;
        private byte[] hash = {1, 2};
        private String city = "Bonn";
        private boolean spoils;

        @Id
        public int getId() {
            return id;
        }

        public void setId(int id) {
            this.id = id;
        }

        public byte[] getHash() {
            return hash.clone();
        }

        public void setHash(byte[] hash) {
            this.hash = hash.clone();
        }

        @Embedded
        public Place getPlace() {
            Place place = new Place();
            place.city = city;
            return place;
        }

        public void setPlace(Place place) {
            city = place == null ? null : place.city;
        }

        public boolean isSpoils() {
            return spoils;
        }

        public void setSpoils(boolean spoils) {
            this.spoils = spoils;
        }

        @OutboxJob(on = Change.UPDATE)
        Told told() {
            if (spoils) {
                hash[0]++;
            }
            return new Told(city + " " + hash[0]);
        }
    }

    GettersIT(TestSchema schema) {
        super(schema, Safe.class, Place.class);
    }

    @Test
    @Corner("property access, getters that make a new object: one job; a payload method that modifies is refused")
    void copies() throws Exception {
        unit.commit(em -> em.persist(new Safe()));
        unit.commit(em -> em.find(Safe.class, 0).city = "Rome");
        assertThat(kinds()).containsExactly("row", "told");
        assertThat(texts("told")).isEqualTo(List.of("Rome 1"));
        assertThatThrownBy(() -> unit.commit(em -> em.find(Safe.class, 0).spoils = true))
                .hasStackTraceContaining("modified attribute hash");
    }
}
