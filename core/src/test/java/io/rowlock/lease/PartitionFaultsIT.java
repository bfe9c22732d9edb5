package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PostgresTest
@Timeout(120)
final class PartitionFaultsIT {
    private static final Duration TIME = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final TestSchema schema;
    private final List<Rowlock> processes = new ArrayList<>();

    PartitionFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        TestRowlock.fresh(schema);
    }

    @AfterEach
    void end() {
        processes.forEach(each -> each.leases().stop(Duration.ofSeconds(5)));
    }

    private Rowlock process() {
        Rowlock process = TestRowlock.beside(schema).rowlock();
        processes.add(process);
        return process;
    }

    private static void idle(Part part) {
        while (part.goesOn()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** How many times to live have passed since the first to join did, by its own saying that it lives. */
    private long lived() throws SQLException {
        return schema.count(
                "SELECT coalesce(max(extract(epoch FROM expires_at - joined_at) * 1000 / ?), 0)::bigint"
                        + " FROM rowlock_partition_member WHERE expires_at > clock_timestamp()"
                        + " AND joined_at = (SELECT min(joined_at) FROM rowlock_partition_member)",
                TIME.toMillis());
    }

    @Test
    @Tag("B23")
    void nobody_divides_anew_while_the_last_task_of_a_member_that_leaves_is_at_work() throws Exception {
        CountDownLatch batch = new CountDownLatch(1);
        AtomicInteger working = new AtomicInteger();
        PartitionMember old = process().partitions(TIME).join("feed", 2, part -> {
            working.incrementAndGet();
            batch.await(); // what it has begun
        });
        soon().until(() -> working.get() == 2);
        PartitionMember anew = process().partitions(TIME).join("feed", 4, PartitionFaultsIT::idle);
        CompletableFuture<Boolean> stopped = CompletableFuture.supplyAsync(() -> old.stop(LONG));
        soon().until(() -> old.draining().size() == 2);

        long begun = lived();
        soon().until(() -> lived() > begun + 3);
        assertThat(anew.parts()).as("two divisions at once").isEmpty();
        assertThat(old.parts()).hasSize(2);

        batch.countDown();
        assertThat(stopped.join()).isTrue();
        soon().until(() -> anew.parts().size() == 4);
    }

    @Test
    @Tag("P10")
    void tasks_that_do_not_end_in_their_grace_are_interrupted_all_at_once() {
        int parts = 12;
        CountDownLatch interrupted = new CountDownLatch(parts);
        AtomicInteger working = new AtomicInteger();
        PartitionMember member = process().partitions(LONG).join("feed", parts, part -> {
            working.incrementAndGet();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                interrupted.await(); // for the others: none ends before the last is interrupted
            }
        });
        soon().until(() -> working.get() == parts);
        assertThat(member.stop(Duration.ZERO)).isTrue();
    }

    @Test
    @Tag("P10")
    void parts_that_a_stopped_process_has_fenced_cost_no_member_its_place() throws Exception {
        schema.execute("INSERT INTO rowlock_lease (name, token, holder, expires_at)"
                + " SELECT 'partition:feed/' || n, 5, 'stopped', clock_timestamp() FROM generate_series(0, 15) n");
        try (Connection stopped = schema.begin();
                Statement fence = stopped.createStatement()) {
            fence.execute("SELECT FROM rowlock_lease WHERE holder = 'stopped' FOR KEY SHARE");
            PartitionMember a = process().partitions(TIME).join("feed", 20, PartitionFaultsIT::idle);
            PartitionMember b = process().partitions(TIME).join("feed", 20, PartitionFaultsIT::idle);
            soon().until(() -> a.parts().size() + b.parts().size() == 4);
            long begun = lived();
            soon().until(() -> {
                assertThat(schema.count(
                                "SELECT count(*) FROM rowlock_partition_member WHERE expires_at > clock_timestamp()"))
                        .as("members that live")
                        .isEqualTo(2);
                return lived() > begun + 5;
            });
            stopped.rollback();
            soon().until(() -> a.parts().size() == 10 && b.parts().size() == 10);
        }
    }

    @Test
    void look_of_a_member_makes_no_parts_that_others_hold() throws Exception {
        AtomicInteger made = new AtomicInteger();
        AtomicInteger looks = new AtomicInteger();
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            proxy.tell(text -> {
                made.addAndGet(text.contains("rowlock:make-parts") ? 1 : 0);
                looks.addAndGet(text.contains("rowlock:partition-member-lives") ? 1 : 0);
            });
            Rowlock watched = Rowlock.builder()
                    .schema(schema.name())
                    .connections(() -> {
                        var source = proxy.dataSource(schema);
                        source.setPrepareThreshold(0);
                        return source.getConnection();
                    })
                    .build();
            processes.add(watched);
            PartitionMember a = watched.partitions(TIME).join("feed", 8, PartitionFaultsIT::idle);
            PartitionMember b = process().partitions(TIME).join("feed", 8, PartitionFaultsIT::idle);
            soon().until(() -> a.parts().size() == 4 && b.parts().size() == 4);
            int before = looks.get();
            int madeBefore = made.get();
            soon().until(() -> looks.get() > before + 4);
            assertThat(made.get()).isEqualTo(madeBefore);
            watched.leases().stop(Duration.ofSeconds(5));
        }
    }
}
