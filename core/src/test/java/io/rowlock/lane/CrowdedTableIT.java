package io.rowlock.lane;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.CountedStatements;
import io.rowlock.fixture.Crowd;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A crowd of jobs that are done, not due, of a foreign kind or held back keeps no other job waiting. */
@PostgresTest
@Tag("B59")
@Tag("P12")
final class CrowdedTableIT {
    /** A look takes 333 jobs of a lane at most, of 10,000 that are held back, and each comes with one to take and to park. */
    private static final int CLAIMS = 80;

    @Kind("busy")
    private record Busy(int no) {}

    @Kind("urgent")
    private record Urgent(int no) {}

    private final Set<Integer> done = new ConcurrentSkipListSet<>();
    private final CountedStatements statements;
    private final TestSchema schema;
    private final TestRowlock rowlock;

    CrowdedTableIT(TestSchema schema) throws Exception {
        this.schema = schema;
        statements = new CountedStatements(schema);
        rowlock = TestRowlock.over(statements);
    }

    @BeforeEach
    void load() throws Exception {
        Crowd.load(schema, "busy");
    }

    @Test
    void a_worker_does_each_urgent_job() throws Exception {
        try (Worker worker = rowlock.work(this::handle)) {
            soon().until(() -> statements.of("keyed-candidates") > 0);
            enqueue();
            soon().until(() -> done.containsAll(Set.of(1, 2, 3, 4)));
            soon().until(() -> rowlock.count(JobState.PARKED) == 2 * Crowd.HELD_BACK);
            assertThat(worker.health().up()).isTrue();
        }
        assertCrowdIsAsItWas();
    }

    @Test
    void a_worker_by_hand_finds_them_within_a_bounded_number_of_claims() throws Exception {
        enqueue();
        try (HandCrankedWorker worker = rowlock.rowlock().handCrankedWorker(this::handle)) {
            for (int n = 1; n <= 4; n++) {
                assertThat(worker.runNext()).isTrue();
            }
        }
        assertThat(done).containsExactly(1, 2, 3, 4);
        assertThat(statements.of("claim", "claim-found", "keyed-candidates", "take-runs"))
                .isLessThanOrEqualTo(CLAIMS);
        assertCrowdIsAsItWas();
    }

    private void enqueue() throws Exception {
        rowlock.enqueue(new Urgent(1));
        rowlock.enqueue(new Busy(2));
        rowlock.enqueue(new Busy(3), options -> options.orderingKey("other"));
        rowlock.enqueue(new Busy(4), options -> options.limitKey("other"));
    }

    private void handle(WorkerConfig config) {
        config.handle(Urgent.class, (urgent, job) -> done.add(urgent.no()));
        config.handle(Busy.class, (busy, job) -> done.add(busy.no()));
    }

    private void assertCrowdIsAsItWas() throws Exception {
        assertThat(done).containsExactly(1, 2, 3, 4);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE attempts > 0"))
                .isEqualTo(4);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE kind = 'foreign' AND state = 'ready'"))
                .isEqualTo(Crowd.FOREIGN);
    }
}
