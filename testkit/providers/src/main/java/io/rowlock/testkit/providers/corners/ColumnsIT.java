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
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What no update writes has not changed, whatever the object holds. */
@Corner("Changes")
@Tag("B35")
final class ColumnsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals. */
    public static class Serial {
        final int number;

        Serial(int number) {
            this.number = number;
        }
    }

    @Converter
    public static class SerialConverter implements AttributeConverter<Serial, Integer> {
        @Override
        public Integer convertToDatabaseColumn(Serial serial) {
            return serial == null ? null : serial.number;
        }

        @Override
        public Serial convertToEntityAttribute(Integer number) {
            return number == null ? null : new Serial(number);
        }
    }

    @Embeddable
    public static class Place {
        String room;

        @Column(updatable = false)
        String house;

        public Place() {}

        Place(String room, String house) {
            this.room = room;
            this.house = house;
        }
    }

    @Entity(name = "Machine")
    @Table(name = "machine")
    public static class Machine {
        @Id
        int id;

        String name;

        @Convert(converter = SerialConverter.class)
        @Column(updatable = false)
        Serial serial = new Serial(1);

        @Embedded
        Place place = new Place("1", "A");

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Machine> change) {
            return new Told(new TreeSet<>(change.dirtyAttributes()).toString());
        }
    }

    ColumnsIT(TestSchema schema) {
        super(schema, Machine.class, SerialConverter.class, Place.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Machine()));
        forgetJobs();
    }

    private List<String> toldBy(Consumer<Machine> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Machine.class, 0)));
        return texts("told");
    }

    @Test
    @Corner("an attribute that is not updatable, also in an embedded object: never changed")
    void not_updatable() throws Exception {
        assertThat(toldBy(machine -> {
                    machine.name = "new";
                    machine.serial = new Serial(7);
                }))
                .containsExactly("[name]");
        assertThat(toldBy(machine -> machine.place = new Place("2", "B"))).containsExactly("[place.room]");
        assertThat(toldBy(machine -> machine.place.house = "C")).isEmpty();
        assertThat(schema.list(String.class, "SELECT concat_ws(' ', serial, room, house) FROM machine"))
                .containsExactly("1 2 A");
    }
}
