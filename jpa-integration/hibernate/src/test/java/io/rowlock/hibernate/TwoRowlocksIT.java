package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two Rowlocks on one persistence unit: neither takes the other's jobs away without a word. */
@PostgresTest
@Tag("P2")
final class TwoRowlocksIT {
    @Kind("rung")
    record Rung(int id) {}

    @Kind("knocked")
    record Knocked(int id) {}

    @Entity(name = "Door")
    @Table(name = "door")
    static class Door {
        @Id
        int id;

        @OutboxJob(on = Change.PERSIST)
        Rung rung() {
            return new Rung(id);
        }

        @OutboxJob(on = Change.PERSIST)
        Knocked knocked() {
            return new Knocked(id);
        }
    }

    @Test
    void both_with_the_same_tables_are_woken_and_one_with_others_is_refused(TestSchema schema) {
        TestUnit.install(schema);
        List<String> done = new CopyOnWriteArrayList<>();
        try (TestUnit unit = TestUnit.on(schema, Door.class)) {
            Rowlock first = rowlock(schema, unit, "rowlock_");
            Rowlock second = rowlock(schema, unit, "rowlock_");
            assertThatThrownBy(() -> rowlock(schema, unit, "other_"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining(schema.name() + ".rowlock_")
                    .hasMessageContaining(schema.name() + ".other_");

            try (Worker ringing = first.worker(
                            w -> w.poll(Duration.ofMinutes(1)).handle(Rung.class, (rung, job) -> done.add("rung")));
                    Worker knocking = second.worker(w -> w.poll(Duration.ofMinutes(1))
                            .handle(Knocked.class, (knocked, job) -> done.add("knocked")))) {
                ringing.start();
                knocking.start();
                await().atMost(Duration.ofSeconds(10))
                        .until(() -> ringing.health().sinceClaim() != null
                                && knocking.health().sinceClaim() != null);
                unit.commit(em -> {
                    Door door = new Door();
                    door.id = 1;
                    em.persist(door);
                });
                await().atMost(Duration.ofSeconds(20)).until(() -> done.size() == 2);
            }
        }
        assertThat(done).containsExactlyInAnyOrder("rung", "knocked");
    }

    private static Rowlock rowlock(TestSchema schema, TestUnit unit, String prefix) {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .tablePrefix(prefix)
                .persistenceUnit(unit.factory())
                .build();
    }
}
