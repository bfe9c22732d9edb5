package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PostgresTest
@Timeout(180)
final class PartitionsIT {
    private static final Duration TIME = Duration.ofSeconds(2);

    private final TestSchema schema;
    private final List<TestRowlock> processes = new ArrayList<>();

    PartitionsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        TestRowlock.fresh(schema);
        schema.execute(
                "DROP TABLE IF EXISTS done, feed;"
                        + " CREATE TABLE feed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part integer, key text, done boolean DEFAULT false);"
                        + " CREATE TABLE done (no bigint GENERATED ALWAYS AS IDENTITY, id bigint, key text, token bigint, who text)");
    }

    @AfterEach
    void end() {
        processes.forEach(each -> each.rowlock().leases().stop(Duration.ofSeconds(5)));
    }

    private Partitions process() {
        TestRowlock process = TestRowlock.beside(schema);
        processes.add(process);
        return process.rowlock().partitions(TIME);
    }

    private static void idle(Part part) {
        while (part.goesOn()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private static void awaitParts(PartitionMember member, int parts) {
        soon().until(() -> member.parts().size() == parts && member.draining().isEmpty());
    }

    @Test
    void members_that_join_and_leave_share_the_parts_fairly() {
        PartitionMember a = process().join("feed", 8, PartitionsIT::idle);
        awaitParts(a, 8);
        PartitionMember b = process().join("feed", 8, PartitionsIT::idle);
        awaitParts(a, 4);
        awaitParts(b, 4);
        PartitionMember c = process().join("feed", 8, PartitionsIT::idle);
        soon().untilAsserted(() -> {
            assertThat(List.of(a.parts().size(), b.parts().size(), c.parts().size()))
                    .allSatisfy(held -> assertThat(held).isLessThanOrEqualTo(3))
                    .satisfies(held -> assertThat(
                                    held.stream().mapToInt(Integer::intValue).sum())
                            .isEqualTo(8));
            assertThat(c.members()).isEqualTo(3);
        });
        assertThat(b.stop(Duration.ofSeconds(10))).isTrue();
        awaitParts(a, 4);
        awaitParts(c, 4);
        assertThat(a.parts()).doesNotContainAnyElementsOf(c.parts());
    }

    @Test
    @Tag("B23")
    void part_is_released_only_after_the_work_in_flight_has_ended() {
        Semaphore batches = new Semaphore(0, true);
        AtomicInteger working = new AtomicInteger();
        PartitionMember a = process().join("feed", 4, part -> {
            while (part.goesOn()) {
                working.incrementAndGet();
                batches.acquire(); // a batch that takes long
                working.decrementAndGet();
            }
        });
        soon().until(() -> working.get() == 4);
        PartitionMember b = process().join("feed", 4, PartitionsIT::idle);
        soon().until(() -> a.draining().size() == 2);
        soon().until(() -> b.members() == 2);
        assertThat(a.parts()).as("kept while they drain").hasSize(4);
        assertThat(b.parts()).isEmpty();

        batches.release(4);
        awaitParts(b, 2);
        assertThat(a.parts()).hasSize(2).doesNotContainAnyElementsOf(b.parts());
        batches.release(1_000);
    }

    @Test
    @Tag("B37")
    void parts_of_a_killed_member_are_taken_when_their_time_is_over() throws Exception {
        try (ChildJvm child = ChildMember.launch(schema, TIME)) {
            child.awaitLine("has 6", Duration.ofSeconds(60));
            PartitionMember a = process().join("feed", 6, PartitionsIT::idle);
            awaitParts(a, 3);
            child.kill();
            awaitParts(a, 6);
            assertThat(schema.list(
                            String.class,
                            "SELECT DISTINCT ended FROM rowlock_lease_history WHERE ended IS NOT NULL ORDER BY 1"))
                    .containsExactly("expired", "released");
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_partition_member"))
                .isOne();
    }

    @Test
    void part_that_nobody_takes_is_taken_above_the_share() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_partition_member (partitions, member, parts, joined_at, expires_at)"
                        + " VALUES ('feed', 'idle', 4, clock_timestamp() + interval '1 hour', clock_timestamp() + interval '1 hour')");
        PartitionMember a = process().join("feed", 4, PartitionsIT::idle);
        soon().until(() -> a.members() == 2 && a.parts().size() >= 2);
        soon().until(() -> a.parts().size() == 4);
        assertThat(a.draining()).as("and kept for a while").isEmpty();
    }

    @Test
    void member_with_another_number_of_parts_waits_until_the_others_have_left() {
        PartitionMember old = process().join("feed", 4, PartitionsIT::idle);
        awaitParts(old, 4);
        PartitionMember young = process().join("feed", 8, PartitionsIT::idle);
        soon().until(() -> young.members() == 2);
        assertThat(young.parts()).isEmpty();
        assertThat(old.parts()).hasSize(4);
        old.close();
        awaitParts(young, 8);
    }

    @Test
    @Tag("P10")
    void task_of_a_part_that_throws_is_begun_again_and_others_go_on() {
        AtomicInteger begun = new AtomicInteger();
        PartitionMember a = process().join("feed", 2, part -> {
            if (part.number() == 0 && begun.incrementAndGet() < 3) {
                throw new IllegalStateException("no paper");
            }
            idle(part);
        });
        soon().until(() -> begun.get() == 3);
        awaitParts(a, 2);
    }

    /** The case itself: batches, members that come and go, one of them killed. */
    @Test
    @Tag("B23")
    @Tag("P11")
    void each_key_is_consumed_in_order_and_once_whoever_joins_leaves_or_dies() throws Exception {
        int parts = 6;
        int rows = 4_000;
        schema.execute(
                "INSERT INTO feed (part, key) SELECT ('x' || substr(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 1, 8))::bit(32)::bigint % ?, key"
                        + " FROM (SELECT 'key-' || n % 40 AS key FROM generate_series(1, ?) n) k",
                parts, rows);
        CountDownLatch enough = new CountDownLatch(60);
        try (ChildJvm child = ChildMember.launch(schema, TIME)) {
            child.awaitLine("has 6", Duration.ofSeconds(60));
            PartitionMember a = process().join("feed", parts, part -> consume(part, "a", enough));
            enough.await();
            PartitionMember b = process().join("feed", parts, part -> consume(part, "b", enough));
            soon().until(() -> !b.parts().isEmpty());
            child.kill();
            a.close();
            soon().until(() -> schema.count("SELECT count(*) FROM feed WHERE NOT done") == 0);
        }
        assertThat(schema.count("SELECT count(*) FROM done")).isEqualTo(rows);
        assertThat(schema.count("SELECT count(DISTINCT id) FROM done")).isEqualTo(rows);
        assertThat(schema.count(
                        "SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY key ORDER BY no) AS before FROM done) d"
                                + " WHERE id < before"))
                .as("out of order")
                .isZero();
        assertThat(schema.list(String.class, "SELECT DISTINCT who FROM done ORDER BY 1"))
                .contains("a", "b");
    }

    private void consume(Part part, String who, CountDownLatch enough) throws SQLException {
        try (Connection connection = schema.begin()) {
            while (part.goesOn()) {
                ChildMember.consume(connection, part, who);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                enough.countDown();
            }
        }
    }

    @Test
    void part_of_a_key_is_the_same_in_java_and_in_sql_and_all_parts_have_some() throws Exception {
        for (int n = 0; n < 200; n++) {
            String key = "Größe-" + n;
            assertThat(schema.count(
                            "SELECT ('x' || substr(encode(sha256(convert_to(?, 'UTF8')), 'hex'), 1, 8))::bit(32)::bigint % 7",
                            key))
                    .isEqualTo(Partitions.partOf(key, 7));
        }
        Set<Integer> parts = new TreeSet<>();
        for (int n = 0; n < 200; n++) {
            parts.add(Partitions.partOf("key-" + n, 7));
        }
        assertThat(parts).hasSize(7);
    }

    @Test
    void wrong_use_is_refused() {
        Partitions partitions = process();
        assertThatThrownBy(() -> partitions.join("", 1, PartitionsIT::idle)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> partitions.join("a", 0, PartitionsIT::idle)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> partitions.join("a", 1_001, PartitionsIT::idle))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> partitions.join("a", 1, null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> Partitions.partOf(null, 1)).isInstanceOf(InvalidUseException.class);
    }
}
