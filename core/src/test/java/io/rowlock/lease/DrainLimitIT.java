package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.PartAbandoned;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A part is drained for so long, and no longer: then another works on it, and what the late one writes is refused. */
@PostgresTest
@Timeout(120)
final class DrainLimitIT {
    private static final Duration TIME = Duration.ofSeconds(3);
    private static final Duration BRIEF = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofHours(1);

    private final TestSchema schema;
    private final List<TestRowlock> processes = new ArrayList<>();
    private final Queue<RowlockEvent> events = new ConcurrentLinkedQueue<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Map<Integer, Throwable> refused = new ConcurrentHashMap<>();

    DrainLimitIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        TestRowlock.fresh(schema);
        schema.execute("TRUNCATE rowlock_alert; DROP TABLE IF EXISTS written; CREATE TABLE written (who text)");
    }

    @AfterEach
    void end() {
        end.countDown();
        processes.forEach(each -> each.rowlock().leases().stop(Duration.ofSeconds(5)));
    }

    private TestRowlock process() {
        TestRowlock process = TestRowlock.beside(schema, builder -> builder.listener(events::add));
        processes.add(process);
        return process;
    }

    private PartitionMember join(TestRowlock process, Duration limit, PartTask task) {
        return process.rowlock().partitions(TIME).drainingWithin(limit).join("feed", 4, task);
    }

    private static void idle(Part part) {
        while (part.goesOn()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** Ends when the test says so, and then writes all the same. */
    private void stubborn(Part part) throws Exception {
        while (end.getCount() > 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            Thread.interrupted();
        }
        try (Connection connection = schema.begin()) {
            part.fence(connection);
            connection.commit();
        } catch (Exception e) {
            refused.put(part.number(), e);
            throw e;
        }
    }

    private List<String> ends() throws SQLException {
        return schema.list(
                String.class, "SELECT ended FROM rowlock_lease_history WHERE ended IS NOT NULL ORDER BY name, token");
    }

    @Test
    @Tag("B23")
    @Tag("P3")
    void part_whose_task_does_not_end_goes_to_another_under_a_new_token_and_the_late_write_is_refused()
            throws Exception {
        TestRowlock first = process();
        PartitionMember a = join(first, BRIEF, this::stubborn);
        soon().until(() -> a.parts().size() == 4);
        List<Long> tokens = schema.list(Long.class, "SELECT token FROM rowlock_lease ORDER BY name");
        PartitionMember b = join(process(), LONG, DrainLimitIT::idle);

        soon().until(() -> b.parts().size() == 2);
        assertThat(a.parts()).hasSize(2).doesNotContainAnyElementsOf(b.parts());
        assertThat(a.draining()).isEmpty();
        assertThat(ends()).containsExactly("abandoned", "abandoned");
        for (int part : b.parts()) {
            String lease = "partition:feed/" + part;
            assertThat(schema.count("SELECT token FROM rowlock_lease WHERE name = ?", lease))
                    .isGreaterThan(tokens.get(part));
            try (Connection connection = schema.begin()) {
                Fence late = first.rowlock().leases().fence(lease, tokens.get(part));
                assertThatThrownBy(() -> late.fence(connection)).isInstanceOf(LeaseLostException.class);
            }
        }
        assertThat(first.rowlock().leases().health().loops())
                .as("what still runs is seen")
                .extracting(FailingLoop::loop)
                .containsExactlyInAnyOrderElementsOf(
                        b.parts().stream().map(part -> "partition-feed/" + part).toList());

        end.countDown();
        soon().until(() -> refused.size() == 2);
        assertThat(refused.keySet()).isEqualTo(b.parts());
        assertThat(refused.values()).allMatch(LeaseLostException.class::isInstance);
        soon().until(() -> first.rowlock().leases().health().up());
    }

    @Test
    void person_is_told_of_a_part_that_was_given_up() throws Exception {
        PartitionMember a = join(process(), BRIEF, this::stubborn);
        soon().until(() -> a.parts().size() == 4);
        join(process(), LONG, DrainLimitIT::idle);

        soon().until(() -> schema.count("SELECT coalesce(sum(n), 0)::bigint FROM rowlock_alert") == 2);
        assertThat(schema.list(String.class, "SELECT DISTINCT cause || ': ' || kind FROM rowlock_alert"))
                .containsExactly("part abandoned: feed");
        assertThat(schema.list(String.class, "SELECT reason FROM rowlock_alert LIMIT 1"))
                .singleElement()
                .asString()
                .contains("had not ended in time", "refused by the fence");
        soon().until(() ->
                events.stream().filter(PartAbandoned.class::isInstance).count() == 2);
    }

    @Test
    @Tag("P3")
    void transaction_that_is_open_under_the_fence_commits_before_another_has_the_part() throws Exception {
        CountDownLatch fenced = new CountDownLatch(1);
        CountDownLatch commit = new CountDownLatch(1);
        PartitionMember a = process()
                .rowlock()
                .partitions(TIME)
                .drainingWithin(BRIEF)
                .join("one", 1, part -> {
                    try (Connection connection = schema.begin();
                            var insert = connection.createStatement()) {
                        part.fence(connection);
                        insert.execute("INSERT INTO written VALUES ('a')");
                        fenced.countDown();
                        while (commit.getCount() > 0) {
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                            Thread.interrupted();
                        }
                        connection.commit();
                    }
                });
        fenced.await();
        a.stop(Duration.ZERO);
        soon().until(() -> ends().equals(List.of("abandoned")));
        PartitionMember b = process().rowlock().partitions(TIME).join("one", 1, part -> {
            try (Connection connection = schema.begin();
                    var insert = connection.createStatement()) {
                part.fence(connection);
                insert.execute("INSERT INTO written VALUES ('b after ' || (SELECT count(*) FROM written))");
                connection.commit();
            }
            idle(part);
        });
        soon().until(() -> b.members() == 1);
        soon().until(() -> schema.count(
                        "SELECT count(*) FROM rowlock_partition_member WHERE expires_at > joined_at + 3 * interval '1 second' * ?",
                        TIME.toSeconds())
                > 0); // it has looked some times
        assertThat(b.parts()).isEmpty();

        commit.countDown();
        soon().until(() -> b.parts().size() == 1);
        soon().until(() -> schema.count("SELECT count(*) FROM written") == 2);
        assertThat(schema.list(String.class, "SELECT who FROM written ORDER BY who"))
                .containsExactly("a", "b after 1");
    }

    @Test
    void part_whose_task_ends_in_time_is_released_and_nobody_is_told() throws Exception {
        PartitionMember a = join(process(), BRIEF, DrainLimitIT::idle);
        soon().until(() -> a.parts().size() == 4);
        PartitionMember b = join(process(), BRIEF, DrainLimitIT::idle);
        soon().until(() -> b.parts().size() == 2);

        assertThat(a.stop(Duration.ofSeconds(10))).isTrue();
        assertThat(b.stop(Duration.ofSeconds(10))).isTrue();
        assertThat(ends()).isNotEmpty().containsOnly("released");
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isZero();
        assertThat(events).noneMatch(PartAbandoned.class::isInstance);
    }

    @Test
    void limit_out_of_range_is_refused() {
        Partitions partitions = process().rowlock().partitions(TIME);
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(999), Duration.ofDays(2))) {
            assertThatThrownBy(() -> partitions.drainingWithin(wrong))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("drain limit");
        }
        assertThatThrownBy(() -> partitions.drainingWithin(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> partitions.all("", 101)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> partitions.members("")).isInstanceOf(InvalidUseException.class);
    }
}
