package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import org.junit.jupiter.api.Test;

@PostgresTest
final class SmokeIT {
    @Kind("greet")
    record Greet(long id, String name) {}

    @Entity(name = "Person")
    @OutboxJob(
            kind = "person-changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Person {
        @Id
        @GeneratedValue
        Long id;

        String name;

        @OutboxJob(on = Change.PERSIST)
        Greet greet() {
            return new Greet(id, name);
        }
    }

    @Test
    void persist_writes_jobs(TestSchema schema) throws Exception {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
        try (TestUnit unit = TestUnit.on(schema, Person.class)) {
            Long id = unit.commitAnd(em -> {
                Person person = new Person();
                person.name = "Ada";
                em.persist(person);
                return person.id;
            });
            assertThat(unit.jobs())
                    .containsExactly(
                            "person-changed {\"entity\":\"Person\",\"id\":\"" + id
                                    + "\",\"change\":\"PERSIST\",\"version\":null}",
                            "greet {\"id\":" + id + ",\"name\":\"Ada\"}");
        }
    }
}
