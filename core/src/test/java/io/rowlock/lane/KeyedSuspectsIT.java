package io.rowlock.lane;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A lost worker has left jobs with keys behind, more than a scan of a lane gives; they run one at a time, and the others beside them. */
@PostgresTest
@Tag("P2")
final class KeyedSuspectsIT {
    @Kind("thing")
    private record Thing(boolean suspect, int no) {}

    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger suspects = new AtomicInteger();
    private final AtomicInteger healthy = new AtomicInteger();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @ParameterizedTest
    @CsvSource({"60, 40, ordering", "60, 40, limit", "2500, 1, ordering", "2500, 1, limit"})
    void hold_up_no_jobs_of_other_keys(int lost, int kinds, String key) throws Exception {
        enqueue(true, lost, key.equals("ordering") ? JobOptions::orderingKey : JobOptions::limitKey);
        schema.execute("UPDATE rowlock_job SET losses = 1, attempts = 1");
        enqueue(false, 10, key.equals("ordering") ? JobOptions::orderingKey : JobOptions::limitKey);
        try (Worker worker = work(kinds)) {
            soon().until(() -> healthy.get() == 10 && suspects.get() == 1);
            schema.execute("DELETE FROM rowlock_job WHERE locked_by IS NULL AND (payload->>'no')::integer > 30");
            gate.countDown();
            rowlock.awaitAllEnded();
            soon().until(() -> worker.health().running() == 0);
        }
        assertThat(suspects.get()).as("the first, and those that were left").isEqualTo(31);
    }

    /** What follows a suspect of its key is healthy, and is found by claims before it. */
    @Test
    @Tag("P11")
    void healthy_followers_come_after_the_suspect_of_their_key() throws Exception {
        enqueue(true, 60, (options, key) -> options.orderingKey("one"));
        schema.execute("UPDATE rowlock_job SET losses = 1, attempts = 1");
        enqueue(false, 60, (options, key) -> options.orderingKey("one"));
        gate.countDown();
        try (Worker worker = rowlock.work(config -> config.queue("default", 8).handle(Thing.class, (thing, job) -> {
            if (thing.suspect()) {
                assertThat(healthy.get()).isZero();
                suspects.incrementAndGet();
            } else {
                healthy.incrementAndGet();
            }
        }))) {
            rowlock.awaitAllEnded();
            soon().until(() -> worker.health().running() == 0);
        }
        assertThat(suspects.get()).isEqualTo(60);
        assertThat(healthy.get()).isEqualTo(60);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed'"))
                .isEqualTo(120);
    }

    private Worker work(int kinds) {
        return rowlock.work(config -> {
            config.queue("default", 8).handle(Thing.class, (thing, job) -> {
                if (thing.suspect()) {
                    suspects.incrementAndGet();
                    gate.await();
                } else {
                    healthy.incrementAndGet();
                }
            });
            for (int i = 1; i < kinds; i++) {
                config.handle(JobKind.named("kind-" + i, String.class), (text, job) -> {});
            }
        });
    }

    private void enqueue(boolean suspect, int many, BiConsumer<JobOptions, String> key) throws Exception {
        List<JobRequest<?>> all = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            String own = suspect + "-" + i;
            all.add(JobRequest.of(new Thing(suspect, i), options -> key.accept(options, own)));
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, all));
    }
}
