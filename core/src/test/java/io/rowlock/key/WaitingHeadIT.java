package io.rowlock.key;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.Rounds;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of due jobs behind a head that waits for tomorrow: put aside in bounded rounds, beside the work on others. */
@PostgresTest
@Tag("P11")
@Tag("B59")
final class WaitingHeadIT {
    private static final int FOLLOWERS = 20_000;
    private static final int OTHERS = 20;

    @Kind("step")
    private record Step(String key) {}

    @Kind("aside")
    private record Aside(String key) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void followers_of_a_waiting_head_are_parked_in_bounded_rounds_while_others_are_done() throws Exception {
        insertFollowers();
        insertOthers();
        Rounds rounds = Rounds.of(schema);

        try (Worker worker = rowlock.work(config -> config.handle(Step.class, (step, job) -> rounds.note(step.key()))
                .handle(Aside.class, (aside, job) -> rounds.note(aside.key())))) {
            soon().until(() -> rowlock.count(JobState.PARKED) == FOLLOWERS);
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 4 * OTHERS);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rounds.largest()).isBetween(1L, 2_000L);
        for (String key : List.of("unkeyed", "of another kind", "of another level")) {
            assertThat(rounds.readyAt(key))
                    .as(key)
                    .hasSize(OTHERS)
                    .allSatisfy(ready -> assertThat(ready).isPositive());
        }
        assertThat(rounds.readyAt("in between").subList(0, OTHERS / 2))
                .allSatisfy(ready -> assertThat(ready).isPositive());
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE attempts = 0 AND ordering_key = 'waiting'"))
                .isEqualTo(FOLLOWERS + 1);
    }

    /** Among them in their lane, one in a thousand is of another key. */
    private void insertFollowers() throws Exception {
        rowlock.enqueue(
                new Step("waiting"), options -> options.orderingKey("waiting").after(Duration.ofDays(1)));
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, ordering_key, run_at)"
                        + " SELECT 'step', json_build_object('key', CASE WHEN n % ? = 0 THEN 'in between' ELSE 'waiting' END),"
                        + " CASE WHEN n % ? = 0 THEN 'other-' || n ELSE 'waiting' END,"
                        + " clock_timestamp() - interval '1 hour' + n * interval '1 millisecond'"
                        + " FROM generate_series(1, ?) n",
                FOLLOWERS / OTHERS + 1, FOLLOWERS / OTHERS + 1, FOLLOWERS + OTHERS);
    }

    private void insertOthers() throws Exception {
        List<Object> unkeyed = new ArrayList<>();
        for (int n = 0; n < OTHERS; n++) {
            int number = n;
            unkeyed.add(new Step("unkeyed"));
            rowlock.enqueue(new Aside("of another kind"), options -> options.orderingKey("aside-" + number));
            rowlock.enqueue(
                    new Step("of another level"),
                    options -> options.orderingKey("level-" + number).priority(Priority.LOW));
        }
        rowlock.enqueueAll(unkeyed);
    }
}
