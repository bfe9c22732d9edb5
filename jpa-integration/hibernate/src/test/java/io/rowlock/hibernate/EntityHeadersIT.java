package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChanged;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Jobs of entity changes carry the headers of contributors, and which job changed the entity. */
@PostgresTest
final class EntityHeadersIT {
    @Entity(name = "Task")
    @Table(name = "task")
    @OutboxJob(
            kind = "task",
            on = {Change.PERSIST, Change.UPDATE})
    static class Task {
        @Id
        int id;

        int turns;
    }

    @Test
    void entity_changed_by_a_handler_makes_a_job_that_knows_its_cause_and_a_loop_is_told(TestSchema schema)
            throws Exception {
        TestUnit.install(schema);
        try (TestUnit unit = TestUnit.on(schema, Task.class)) {
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .persistenceUnit(unit.factory())
                    .headers(() -> Map.of("tenant", "acme"))
                    .build();
            unit.commit(em -> em.persist(new Task()));
            try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handleTransactionally(
                    JobKind.named("task", EntityChanged.class),
                    JpaTransactions.of(unit.factory()),
                    (changed, job, em) -> {
                        Task task = em.find(Task.class, Integer.valueOf(changed.id()));
                        if (task.turns < 21) {
                            task.turns++;
                        }
                    }))) {
                worker.drain();
            }
        }
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', headers->>'tenant', headers->>'rowlock-depth', headers->>'rowlock-cause')"
                                + " FROM rowlock_job ORDER BY id LIMIT 2"))
                .containsExactly("acme", "acme 1 task/" + schema.count("SELECT min(id) FROM rowlock_job"));
        assertThat(schema.list(String.class, "SELECT cause || ' ' || kind || ' ' || n FROM rowlock_alert"))
                .containsExactly("jobs in a loop task 1");
    }

    @Kind(value = "order-changed", version = 2)
    record OrderChanged(int id, long cents) {}

    @Entity(name = "Bill")
    @Table(name = "bill")
    static class Bill {
        @Id
        int id;

        @OutboxJob(on = Change.PERSIST)
        OrderChanged changed() {
            return new OrderChanged(id, 500);
        }
    }

    @Test
    void job_of_an_entity_says_the_version_of_its_payload(TestSchema schema) throws Exception {
        TestUnit.install(schema);
        schema.execute("TRUNCATE rowlock_job");
        try (TestUnit unit = TestUnit.on(schema, Bill.class)) {
            Rowlock.builder()
                    .dataSource(schema.dataSource())
                    .persistenceUnit(unit.factory())
                    .build();
            unit.commit(em -> em.persist(new Bill()));
        }
        assertThat(schema.list(String.class, "SELECT kind || ' ' || (headers->>'rowlock-version') FROM rowlock_job"))
                .containsExactly("order-changed 2");
    }
}
