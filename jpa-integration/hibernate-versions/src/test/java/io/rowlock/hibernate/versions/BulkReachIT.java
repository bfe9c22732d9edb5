package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.BulkStatementMet;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How far bulk statements reach: which entities they are told of, and which they do not concern. */
@Corner("Bulk statements")
@Tag("B05")
final class BulkReachIT extends ProviderTest {
    @Entity(name = "Owner")
    @Table(name = "owner")
    static class Owner {
        @Id
        int id;
    }

    @Embeddable
    static class Address {
        String city;

        @Column(name = "zip_code")
        String zip;
    }

    @Entity(name = "House")
    @Table(name = "house")
    @OutboxJob(kind = "any", on = Change.REMOVE)
    @OutboxJob(kind = "moved", on = Change.UPDATE, changed = "address")
    @OutboxJob(
            kind = "not-seen",
            on = Change.UPDATE,
            ignoring = {"seen", "address.zip"})
    static class House {
        @Id
        int id;

        @Version
        int version;

        int seen;

        int rooms;

        Address address;

        @ManyToOne
        Owner owner;
    }

    @Entity(name = "Room")
    @Table(name = "room")
    @OutboxJob(kind = "room", on = Change.REMOVE)
    static class Room {
        @Id
        int id;

        @ManyToOne
        House house;
    }

    private final List<BulkStatementMet> met = new ArrayList<>();

    BulkReachIT(TestSchema schema) {
        super(schema, Owner.class, Address.class, House.class, Room.class);
    }

    @BeforeAll
    void listen() {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .listener(event -> {
                    if (event instanceof BulkStatementMet statement) {
                        met.add(statement);
                    }
                })
                .build();
    }

    private List<String> told() {
        List<String> told = met.stream()
                .map(each -> each.entity() + " " + each.change() + " " + new TreeSet<>(each.kinds()))
                .sorted()
                .toList();
        met.clear();
        return told;
    }

    private List<String> metByHql(String statement) {
        unit.commit(em -> em.createQuery(statement).executeUpdate());
        return told();
    }

    private List<String> metBySql(String statement) {
        unit.commit(em -> em.createNativeQuery(statement).executeUpdate());
        return told();
    }

    @Test
    @Corner("TRUNCATE of several tables, and with CASCADE of those that refer to them: told of all")
    void truncation() {
        assertThat(metBySql("TRUNCATE room, house")).containsExactly("House REMOVE [any]", "Room REMOVE [room]");
        assertThat(metBySql("TRUNCATE owner CASCADE")).containsExactly("House REMOVE [any]", "Room REMOVE [room]");
        assertThat(metBySql("TRUNCATE room CASCADE")).containsExactly("Room REMOVE [room]");
    }

    @Test
    @Corner("strings with escapes or between dollars, comments: what is in them is not told, what is behind them is")
    void strings() {
        assertThat(metBySql("UPDATE owner SET id = id WHERE E'it\\'s' = 'x'; DELETE FROM room"))
                .containsExactly("Room REMOVE [room]");
        assertThat(metBySql("/* /* ' */ */ DELETE FROM room WHERE $$'$$ = $a$DELETE FROM house$a$"))
                .containsExactly("Room REMOVE [room]");
        assertThat(metBySql("DO $$ BEGIN DELETE FROM room; END $$")).containsExactly("Room REMOVE [room]");
    }

    @Test
    @Corner("UPDATE of columns that no annotation is about: not told")
    void columns() {
        assertThat(metByHql("update House h set h.seen = 1")).isEmpty();
        assertThat(metByHql("update versioned House h set h.seen = 1")).isEmpty();
        assertThat(metByHql("update House h set h.rooms = 1")).containsExactly("House UPDATE [not-seen]");
        assertThat(metByHql("update House h set h.address.zip = 'x', h.seen = 1")).containsExactly("House UPDATE [moved]");
        assertThat(metByHql("update House h set h.address.city = 'x'")).containsExactly("House UPDATE [moved, not-seen]");
        assertThat(metBySql("UPDATE house SET seen = 1, version = version + 1 WHERE rooms = 2"))
                .isEmpty();
        assertThat(metBySql("UPDATE house SET (seen, zip_code) = (SELECT 1, 'x')"))
                .containsExactly("House UPDATE [moved]");
    }
}
