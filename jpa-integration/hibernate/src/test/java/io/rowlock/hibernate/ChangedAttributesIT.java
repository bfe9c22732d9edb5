package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Which attributes an update changed, their values before and after, and the names that jobs get from attributes. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B35")
final class ChangedAttributesIT {
    @Kind("told")
    record Told(String text) {}

    @Embeddable
    static class Geo {
        Integer lat;
        Integer lon;
    }

    @Embeddable
    static class Address {
        String city;
        String street;

        @Embedded
        Geo geo;
    }

    @Entity(name = "Firm")
    @Table(name = "firm")
    static class Firm {
        @Id
        int id;

        String name;

        Firm() {}

        Firm(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Employee")
    @Table(name = "employee")
    @OutboxJob(
            kind = "changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            ignoring = {"lastLogin", "address.geo"},
            subject = "firm",
            orderedBy = "firm")
    @OutboxJob(kind = "city", on = Change.UPDATE, changed = "address.city", orderedBy = "id", queue = "mail")
    @OutboxJob(kind = "address", on = Change.UPDATE, changed = "address", orderedBy = "address.city")
    @OutboxJob(kind = "firm", on = Change.UPDATE, changed = "firm")
    static class Employee {
        @Id
        int id;

        @Version
        int version;

        String name = "Ada";
        int lastLogin;

        @Embedded
        Address address = new Address();

        @ManyToOne(fetch = FetchType.LAZY)
        Firm firm;

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
        Told told(EntityChange<Employee> change) {
            StringBuilder text = new StringBuilder().append(change.operation());
            for (String path : new String[] {"name", "address.city", "lastLogin"}) {
                if (change.changed(path)) {
                    text.append(' ').append(path).append(' ');
                    text.append(change.knowsOldValue(path) ? change.oldValue(path) : "?")
                            .append("->");
                    text.append(change.newValue(path));
                }
            }
            return new Told(text + " " + new TreeSet<>(change.dirtyAttributes()));
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    ChangedAttributesIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Employee.class, Firm.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void hire() throws Exception {
        schema.execute("DELETE FROM employee; DELETE FROM firm");
        unit.commit(em -> {
            Firm firm = new Firm(7);
            em.persist(firm);
            em.persist(new Firm(8));
            Employee employee = new Employee();
            employee.id = 1;
            employee.firm = firm;
            employee.address.city = "Ulm";
            em.persist(employee);
        });
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private String told() throws Exception {
        return schema.list(String.class, "SELECT payload->>'text' FROM rowlock_job WHERE kind = 'told'")
                .get(0);
    }

    @Test
    void one_attribute_in_an_embedded_object_is_told_from_the_others() throws Exception {
        unit.commit(em -> em.find(Employee.class, 1).address.street = "Main");
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "address", "told");
        assertThat(told()).isEqualTo("UPDATE [address.street]");
    }

    @Test
    void embedded_object_put_in_place_of_another_counts_where_it_differs() throws Exception {
        unit.commit(em -> {
            Address moved = new Address();
            moved.city = "Bonn";
            em.find(Employee.class, 1).address = moved;
        });
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "city", "address", "told");
        assertThat(told()).isEqualTo("UPDATE address.city Ulm->Bonn [address.city]");
    }

    @Test
    void embedded_object_that_is_gone_counts_with_all_it_had() throws Exception {
        unit.commit(em -> em.find(Employee.class, 1).address = null);
        assertThat(told()).isEqualTo("UPDATE address.city Ulm->null [address.city]");
    }

    @Test
    void ignored_attributes_alone_make_no_job() throws Exception {
        unit.commit(em -> em.find(Employee.class, 1).lastLogin = 5);
        assertThat(unit.kinds()).containsExactly("told");
        assertThat(told()).isEqualTo("UPDATE lastLogin 0->5 [lastLogin]");
        unit.commit(em -> {
            Geo geo = new Geo();
            geo.lat = 48;
            em.find(Employee.class, 1).address.geo = geo;
        });
        assertThat(unit.kinds()).containsExactlyInAnyOrder("told", "told", "address");
        unit.commit(em -> {
            em.find(Employee.class, 1).lastLogin = 6;
            em.find(Employee.class, 1).name = "Eve";
        });
        assertThat(unit.kinds()).contains("changed");
    }

    @Test
    void insert_and_delete_know_what_is_there() throws Exception {
        unit.commit(em -> em.remove(em.getReference(Employee.class, 1)));
        assertThat(told()).isEqualTo("REMOVE name Ada->null address.city Ulm->null lastLogin 0->null []");
        schema.execute("DELETE FROM rowlock_job");
        unit.commit(em -> {
            Employee employee = new Employee();
            employee.id = 2;
            em.persist(employee);
            em.flush();
            employee.name = "Eve";
        });
        assertThat(schema.list(
                        String.class, "SELECT payload->>'text' FROM rowlock_job WHERE kind = 'told' ORDER BY id"))
                .containsExactly(
                        "PERSIST name null->Ada address.city null->null lastLogin null->0 []",
                        "UPDATE name Ada->Eve [name]");
    }

    @Test
    void insert_tells_what_the_same_flush_updated_afterwards() throws Exception {
        unit.commit(em -> {
            Employee employee = new Employee();
            employee.id = 3;
            em.persist(employee);
            employee.name = "Eve";
        });
        assertThat(told()).startsWith("PERSIST name null->Eve");
    }

    @Test
    void merged_entity_tells_what_it_was_before() throws Exception {
        Employee detached = unit.commitAnd(em -> em.find(Employee.class, 1));
        detached.name = "Eve";
        unit.commit(em -> em.merge(detached));
        assertThat(told()).isEqualTo("UPDATE name Ada->Eve [name]");
    }

    @Test
    void jobs_are_named_and_ordered_by_the_id_by_what_a_reference_is_to_or_by_a_value() throws Exception {
        unit.commit(em -> {
            Employee employee = em.find(Employee.class, 1);
            employee.address.city = "Bonn";
            employee.firm = em.getReference(Firm.class, 8);
        });
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', kind, queue, subject, coalesce(ordering_key, '-')) FROM rowlock_job"
                                + " WHERE kind <> 'told'"))
                .containsExactlyInAnyOrder(
                        "changed default Firm:8 Firm:8",
                        "city mail Employee:1 Employee:1",
                        "address default Employee:1 Employee.address.city:Bonn",
                        "firm default Employee:1 -");
    }

    @Test
    void reference_to_nothing_gives_no_key_and_leaves_the_subject_to_the_entity() throws Exception {
        unit.commit(em -> em.find(Employee.class, 1).firm = null);
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', subject, coalesce(ordering_key, '-')) FROM rowlock_job WHERE kind ="
                                + " 'changed'"))
                .containsExactly("Employee:1 -");
    }
}
