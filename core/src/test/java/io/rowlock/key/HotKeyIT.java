package io.rowlock.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.Rounds;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many quick jobs of one key are taken as runs, several per claim, and still in order. */
@PostgresTest
@Tag("P11")
final class HotKeyIT {
    private static final int JOBS = 2_000;

    @Kind("step")
    private record Step(int no) {}

    @Test
    void quick_jobs_of_one_key_drain_with_at_least_five_per_claim(TestSchema schema) throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        List<Step> steps = IntStream.range(0, JOBS).mapToObj(Step::new).toList();
        rowlock.enqueueAll(steps, options -> options.orderingKey("hot"));
        Rounds rounds = Rounds.of(schema);
        List<Integer> done = Collections.synchronizedList(new ArrayList<>());

        try (Worker worker = rowlock.work(config -> config.handle(Step.class, (step, job) -> done.add(step.no())))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(done).isEqualTo(IntStream.range(0, JOBS).boxed().toList());
        assertThat(rounds.claimed()).isEqualTo(JOBS);
        assertThat(rounds.claims()).isBetween(1L, JOBS / 5L);
    }
}
