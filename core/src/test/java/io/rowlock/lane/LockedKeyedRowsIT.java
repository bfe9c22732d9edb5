package io.rowlock.lane;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Another transaction holds more rows locked than the worker has slots, for as long as it likes: all others run. */
@PostgresTest
@Tag("P2")
@Tag("P11")
final class LockedKeyedRowsIT {
    @Kind("thing")
    private record Thing(int no) {}

    private static final By ADA = new By("ada", "a test");

    /** What the jobs have; each a key of its own. */
    private enum With {
        NOTHING,
        ORDERING_KEY,
        LIMIT_KEY,
        LIMIT_KEY_WITH_LIMIT,
        BOTH_WITH_LIMIT;

        Consumer<JobOptions> options(int no) {
            return switch (this) {
                case NOTHING -> options -> {};
                case ORDERING_KEY -> options -> options.orderingKey("k" + no);
                case LIMIT_KEY, LIMIT_KEY_WITH_LIMIT -> options -> options.limitKey("k" + no);
                case BOTH_WITH_LIMIT -> options -> options.limitKey("k" + no).orderingKey("k" + no);
            };
        }

        boolean limited() {
            return this == LIMIT_KEY_WITH_LIMIT || this == BOTH_WITH_LIMIT;
        }
    }

    private final Set<Integer> done = ConcurrentHashMap.newKeySet();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @ParameterizedTest
    @EnumSource
    void a_few_locked_rows(With with) throws Exception {
        othersRunAndThenTheLockedOnes(with, 10, 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORDERING_KEY", "LIMIT_KEY"})
    void more_locked_rows_than_a_scan_gives(String with) throws Exception {
        othersRunAndThenTheLockedOnes(With.valueOf(with), 2_500, 10);
    }

    private void othersRunAndThenTheLockedOnes(With with, int locked, int slots) throws Exception {
        if (with.limited()) {
            rowlock.rowlock().queues().limit("default", QueueLimits.none().runningPerKey(1), ADA);
        }
        enqueue(with, 0, locked);
        try (Connection other = schema.begin();
                Statement statement = other.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_job FOR SHARE");
            enqueue(with, 10_000, 10_010);
            try (Worker worker = work(slots)) {
                soon().until(() -> done.size() == 10);
                assertThat(done).allMatch(no -> no >= 10_000);
                other.rollback();
                soon().until(() -> done.size() == 10 + locked && worker.health().running() == 0);
            }
        }
    }

    /** As it happens: an enqueue of duplicates has locked the jobs that wait, and commits later. */
    @Test
    @Tag("B43")
    void transaction_with_duplicates_holds_up_no_other_keys() throws Exception {
        List<JobRequest<?>> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int no = i;
            all.add(JobRequest.of(
                    new Thing(no), options -> options.limitKey("k" + no).dedupKey("d" + no)));
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, all));
        try (Connection open = schema.begin()) {
            rowlock.rowlock().outbox().enqueueAll(open, all);
            enqueue(With.LIMIT_KEY, 100, 110);
            try (Worker worker = work(10)) {
                soon().until(() -> done.size() == 10);
                assertThat(done).allMatch(no -> no >= 100);
                open.commit();
                soon().until(() -> done.size() == 20 && worker.health().running() == 0);
            }
        }
    }

    private Worker work(int slots) {
        return rowlock.work(
                config -> config.queue("default", slots).handle(Thing.class, (thing, job) -> done.add(thing.no())));
    }

    private void enqueue(With with, int from, int to) throws Exception {
        List<JobRequest<?>> all = new ArrayList<>();
        for (int i = from; i < to; i++) {
            all.add(JobRequest.of(new Thing(i), with.options(i)));
        }
        rowlock.commit(connection -> rowlock.rowlock().outbox().enqueueAll(connection, all));
    }
}
