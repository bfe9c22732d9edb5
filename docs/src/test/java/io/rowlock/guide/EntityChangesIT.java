package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.EntityChanged;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import io.rowlock.jpa.Suppression;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

@PostgresTest
class EntityChangesIT {
    @Entity(name = "Team")
    @Table(name = "teams")
    public static class Team {
        @Id
        int id = 7;
    }

    @Embeddable
    public static class Address {
        String city = "Bonn";
        String street = "";
    }

    // tag::changes
    @Kind("moved")
    public record Moved(int person, String from, String to) {}

    @Kind("greeting")
    public record Greeting(String text) {}

    @Entity(name = "Person")
    @Table(name = "persons")
    @OutboxJob(kind = "person-indexed", on = Change.UPDATE, ignoring = "logins")
    @OutboxJob(on = Change.PERSIST, payload = Greetings.class, queue = "mail")
    public static class Person {
        @Id
        int id;

        int logins;
        Address address = new Address(); // embeddable: city, street

        @ManyToOne
        Team team;

        @ElementCollection
        Set<String> skills = new HashSet<>();

        @OutboxJob(on = Change.UPDATE, changed = "address.city", orderedBy = "id", subject = "team")
        Moved moved(EntityChange<Person> change) {
            return new Moved(id, (String) change.oldValue("address.city"), (String) change.newValue("address.city"));
        }
    }

    public static class Greetings implements PayloadFactory<Person, Greeting> { // a bean where there are beans
        @Override
        public List<Greeting> payloads(EntityChange<Person> change) {
            return List.of(new Greeting("Hello, number " + change.entity().id));
        }
    }

    // end::changes

    @Test
    void changes_tell_what_they_are(TestSchema schema) throws SQLException {
        try (EntityManagerFactory emf = Units.start(schema, Person.class, Team.class)) {
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .schema(schema.name())
                    .build();
            rowlock.schema().install();
            emf.runInTransaction(em -> {
                Person person = new Person();
                person.id = 1;
                person.team = new Team();
                em.persist(person.team);
                em.persist(person);
            });
            assertThat(rowlock.jobs()).hasOne(Greeting.class).isAbout("Person:1");
            assertThat(schema.list(String.class, "SELECT queue FROM rowlock_job"))
                    .containsExactly("mail");
            emf.runInTransaction(em -> em.find(Person.class, 1).logins++);
            assertThat(rowlock.jobs()).hasCount("person-indexed", 0);
            emf.runInTransaction(em -> em.find(Person.class, 1).skills.add("rowing"));
            assertThat(rowlock.jobs()).hasCount("person-indexed", 1);
            emf.runInTransaction(em -> em.find(Person.class, 1).address.city = "Ulm");
            assertThat(rowlock.jobs()).hasOne(Moved.class).isAbout("Team:7");
            assertThat(schema.list(String.class, "SELECT ordering_key FROM rowlock_job WHERE kind = 'moved'"))
                    .containsExactly("Person:1");
            queues(rowlock);
            suppress(rowlock, emf);
            assertThat(rowlock.jobs()).hasCount("greeting", 1);
            headers(schema, emf);
        }
    }

    private static void queues(Rowlock rowlock) {
        List<Object> handled = new CopyOnWriteArrayList<>();
        // tag::queues
        Worker worker = rowlock.worker(w -> w.queue("default", 8)
                .queue("mail", 2) // without it, greetings wait
                .handle(Greeting.class, (greeting, job) -> handled.add(greeting.text()))
                .handle(Moved.class, (moved, job) -> handled.add(moved.to()))
                .handle(
                        JobKind.named("person-indexed", EntityChanged.class),
                        (person, job) -> handled.add(person.id())));
        // end::queues
        worker.start();
        await().until(() -> handled.size() == 4);
        worker.stop(Duration.ofSeconds(10));
    }

    private static void suppress(Rowlock rowlock, EntityManagerFactory emf) {
        List<Integer> old = List.of(2, 3);
        // tag::suppress
        JpaOutbox outbox = JpaOutbox.of(rowlock);
        emf.runInTransaction(em -> {
            try (Suppression silent = outbox.suppress(em, "import from the old shop", "greeting")) { // these kinds
                old.forEach(number -> em.persist(person(number)));
                em.flush();
                System.out.println(silent.count() + " greetings left out");
            }
        });
        // end::suppress
    }

    private static Person person(int id) {
        Person person = new Person();
        person.id = id;
        return person;
    }

    private static void headers(TestSchema schema, EntityManagerFactory emf) throws SQLException {
        // tag::headers
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(emf)
                .headers(() -> Map.of("tenant", tenant())) // asked by the thread that flushes
                .build();
        // end::headers
        emf.runInTransaction((EntityManager em) -> em.persist(person(4)));
        assertThat(rowlock.jobs()).hasCount("greeting", 2);
        assertThat(schema.list(String.class, "SELECT headers->>'tenant' FROM rowlock_job WHERE headers IS NOT NULL"))
                .containsExactly("acme");
    }

    private static String tenant() {
        return "acme";
    }
}
