package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Table;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What annotations ask of a change, what they are told of it, and what they take from it. */
@Corner("Annotations")
@Tag("B35")
final class ConditionsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Embeddable
    public static class Geo {
        Integer lat;
        Integer lon;

        public Geo() {}

        Geo(Integer lat, Integer lon) {
            this.lat = lat;
            this.lon = lon;
        }
    }

    @Embeddable
    public static class Address {
        String city;
        String street;

        @Embedded
        Geo geo;

        public Address() {}

        Address(String city) {
            this.city = city;
        }
    }

    @Entity(name = "Firm")
    @Table(name = "firm")
    public static class Firm {
        @Id
        int id;

        public Firm() {}

        Firm(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Employee")
    @Table(name = "employee")
    @OutboxJob(kind = "any", on = Change.UPDATE)
    @OutboxJob(kind = "name", on = Change.UPDATE, changed = "name")
    @OutboxJob(
            kind = "ignoring",
            on = Change.UPDATE,
            ignoring = {"logins", "address.geo"})
    @OutboxJob(kind = "city", on = Change.UPDATE, changed = "address.city", orderedBy = "id", queue = "mail")
    @OutboxJob(kind = "address", on = Change.UPDATE, changed = "address", orderedBy = "address.city")
    @OutboxJob(kind = "lat", on = Change.UPDATE, changed = "address.geo.lat")
    @OutboxJob(kind = "firm", on = Change.UPDATE, changed = "firm", orderedBy = "firm", subject = "firm")
    public static class Employee {
        @Id
        int id;

        String name = "Ada";
        int logins;

        @Embedded
        Address address = new Address("Ulm");

        @ManyToOne(fetch = FetchType.LAZY)
        Firm firm;

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
        Told told(EntityChange<Employee> change) {
            return new Told(change.operation() + values(change, "name") + values(change, "address.city"));
        }

        private static String values(EntityChange<Employee> change, String attribute) {
            return change.changed(attribute)
                    ? " " + change.oldValue(attribute) + "->" + change.newValue(attribute)
                    : "";
        }

        @OutboxJob(kind = "dirty", on = Change.UPDATE)
        Told dirty(EntityChange<Employee> change) {
            return new Told(new TreeSet<>(change.dirtyAttributes()).toString());
        }
    }

    @Entity(name = "Stamped")
    @Table(name = "stamped")
    @OutboxJob(kind = "stamped", on = Change.UPDATE, changed = "updates")
    public static class Stamped {
        @Id
        int id;

        String name;
        int updates;

        @PreUpdate
        void count() {
            updates++;
        }
    }

    ConditionsIT(TestSchema schema) {
        super(schema, Employee.class, Firm.class, Address.class, Geo.class, Stamped.class);
    }

    @BeforeEach
    void hire() throws Exception {
        unit.commit(em -> {
            em.persist(new Firm(7));
            em.persist(new Firm(8));
            Employee employee = new Employee();
            employee.id = 1;
            employee.firm = em.find(Firm.class, 7);
            em.persist(employee);
        });
        forgetJobs();
    }

    private List<String> kindsBy(Consumer<Employee> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Employee.class, 1)));
        return schema.list(
                String.class, "SELECT kind FROM rowlock_job WHERE kind NOT IN ('told', 'dirty') ORDER BY kind");
    }

    @Test
    @Corner("`changed`: a job only if one of the attributes changed")
    void changed() throws Exception {
        assertThat(kindsBy(employee -> employee.name = "Eve")).containsExactly("any", "ignoring", "name");
        assertThat(kindsBy(employee -> employee.logins = 1)).doesNotContain("name");
    }

    @Test
    @Corner("`changed` with an embedded object or a path into it")
    void changed_path() throws Exception {
        assertThat(kindsBy(employee -> employee.address.street = "Main")).containsExactly("address", "any", "ignoring");
        assertThat(kindsBy(employee -> employee.address.city = "Bonn"))
                .containsExactly("address", "any", "city", "ignoring");
    }

    @Test
    @Corner("an embedded object put in place of another: its paths that differ changed")
    void replaced_embedded() throws Exception {
        assertThat(kindsBy(employee -> employee.address = new Address("Bonn")))
                .containsExactly("address", "any", "city", "ignoring");
        assertThat(kindsBy(employee -> employee.address = new Address("Bonn"))).isEmpty();
    }

    @Test
    @Corner("an embedded object of an embedded one: `changed` and `ignoring` by its path")
    void nested_embedded() throws Exception {
        assertThat(kindsBy(employee -> employee.address.geo = new Geo(48, 10)))
                .containsExactly("address", "any", "lat");
        assertThat(kindsBy(employee -> employee.address.geo.lon = 11)).containsExactly("address", "any");
        assertThat(kindsBy(employee -> employee.address.geo.lat = 49)).containsExactly("address", "any", "lat");
    }

    @Test
    @Corner("an embedded object set to null: what it had changed")
    void no_embedded() throws Exception {
        assertThat(kindsBy(employee -> employee.address = null)).containsExactly("address", "any", "city", "ignoring");
        assertThat(texts("told")).containsExactly("UPDATE Ulm->null");
        assertThat(texts("dirty")).containsExactly("[address.city]");
    }

    @Test
    @Corner("`ignoring`: no job if nothing else changed")
    void ignoring() throws Exception {
        assertThat(kindsBy(employee -> employee.logins = 5)).containsExactly("any");
        assertThat(kindsBy(employee -> {
                    employee.logins = 6;
                    employee.name = "Eve";
                }))
                .containsExactly("any", "ignoring", "name");
    }

    @Test
    @Corner("an attribute that @PreUpdate changes counts as changed")
    void callback() throws Exception {
        unit.commit(em -> em.persist(new Stamped()));
        unit.commit(em -> em.find(Stamped.class, 0).name = "Eve");
        assertThat(kinds()).containsExactly("stamped");
    }

    @Test
    @Corner("EntityChange: the attributes that an update changed")
    void dirty() throws Exception {
        unit.commit(em -> {
            Employee employee = em.find(Employee.class, 1);
            employee.name = "Eve";
            employee.address.city = "Bonn";
        });
        assertThat(texts("dirty")).containsExactly("[address.city, name]");
    }

    @Test
    @Corner("`orderedBy`, `subject`, `queue`: by id, reference or value")
    void queue_subject_and_key() throws Exception {
        unit.commit(em -> {
            Employee employee = em.find(Employee.class, 1);
            employee.address.city = "Bonn";
            employee.firm = em.getReference(Firm.class, 8);
        });
        assertThat(places())
                .containsExactly(
                        "address default Employee:1 Employee.address.city:Bonn",
                        "city mail Employee:1 Employee:1",
                        "firm default Firm:8 Firm:8");
    }

    @Test
    @Corner("`orderedBy` and `subject` of a reference to nothing: no key, the entity as subject")
    void no_place() throws Exception {
        unit.commit(em -> em.find(Employee.class, 1).firm = null);
        assertThat(places()).containsExactly("firm default Employee:1 -");
    }

    private List<String> places() throws Exception {
        return schema.list(
                String.class,
                "SELECT concat_ws(' ', kind, queue, subject, coalesce(ordering_key, '-')) FROM rowlock_job"
                        + " WHERE kind IN ('address', 'city', 'firm') ORDER BY 1");
    }

    @Test
    @Corner("EntityChange: old and new values of an update")
    void values_of_an_update() throws Exception {
        unit.commit(em -> {
            Employee employee = em.find(Employee.class, 1);
            employee.name = "Eve";
            employee.address.city = "Bonn";
        });
        assertThat(texts("told")).containsExactly("UPDATE Ada->Eve Ulm->Bonn");
    }

    @Test
    @Corner("EntityChange: old and new values of a merge")
    void values_of_a_merge() throws Exception {
        Employee detached = unit.answer(em -> em.find(Employee.class, 1));
        detached.name = "Eve";
        unit.commit(em -> em.merge(detached));
        assertThat(texts("told")).containsExactly("UPDATE Ada->Eve");
    }

    @Test
    @Corner("EntityChange: an insert has no old values, a delete no new ones")
    void values_of_insert_and_delete() throws Exception {
        unit.commit(em -> em.remove(em.getReference(Employee.class, 1)));
        unit.commit(this::persistAnother);
        assertThat(texts("told")).containsExactly("REMOVE Ada->null Ulm->null", "PERSIST null->Eve null->Ulm");
    }

    private void persistAnother(EntityManager em) {
        Employee employee = new Employee();
        employee.id = 2;
        em.persist(employee);
        employee.name = "Eve";
    }
}
