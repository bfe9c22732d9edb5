package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.lease.Part;
import io.rowlock.lease.PartitionMember;
import io.rowlock.lease.Partitions;
import io.rowlock.lease.PartitionsView;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@PostgresTest
class PartitionsIT {
    private static final int PARTS = 16;

    private final TestSchema schema;
    private final Rowlock rowlock;
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final CountDownLatch all = new CountDownLatch(6);

    PartitionsIT(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        schema.execute(
                "DROP TABLE IF EXISTS feed; CREATE TABLE feed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part integer NOT NULL,"
                        + " customer text NOT NULL, change text NOT NULL, sent_at timestamptz);"
                        + " CREATE INDEX feed_unsent ON feed (part, id) WHERE sent_at IS NULL");
    }

    @Test
    void a_feed_is_sent_in_order_by_whoever_has_the_part() throws Exception {
        for (int change = 1; change <= 3; change++) {
            for (String customer : List.of("ada", "grace")) {
                // tag::write
                schema.execute(
                        "INSERT INTO feed (part, customer, change) VALUES (?, ?, ?)",
                        Partitions.partOf(customer, PARTS),
                        customer,
                        "change-" + change);
                // end::write
            }
        }
        // tag::join
        PartitionMember member = rowlock.partitions().join("customer-feed", PARTS, this::send);
        // end::join
        assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
        // tag::look
        for (PartitionsView each : rowlock.partitions().all("", 100)) {
            System.out.println(each.name() + ": " + each.held() + " of " + each.parts() + " parts are worked on by "
                    + rowlock.partitions().members(each.name()));
        }
        // end::look
        assertThat(rowlock.partitions().parts("customer-feed")).hasSize(PARTS);
        // tag::leave
        member.close(); // or rowlock.leases().stop(...): tasks end, then their parts are free
        // end::leave
        assertThat(sent)
                .filteredOn(line -> line.startsWith("ada"))
                .containsExactly("ada change-1", "ada change-2", "ada change-3");
        assertThat(sent).filteredOn(line -> line.startsWith("grace")).hasSize(3).isSorted();
        assertThat(schema.count("SELECT count(*) FROM feed WHERE sent_at IS NULL"))
                .isZero();
    }

    @Test
    void a_task_has_so_long_to_end() {
        // tag::limit
        Partitions partitions = rowlock.partitions().drainingWithin(Duration.ofMinutes(2)); // 5 min unless said
        PartitionMember member = partitions.join("customer-feed", PARTS, this::send);
        // end::limit
        member.close();
        assertThat(member.parts()).isEmpty();
    }

    // tag::send
    private void send(Part part) throws Exception {
        while (part.goesOn()) { // false when the part is to be handed over: the batch that was begun is ended first
            if (sendBatch(part) == 0) {
                TimeUnit.SECONDS.sleep(1);
            }
        }
    }

    private int sendBatch(Part part) throws SQLException {
        try (Connection connection = schema.begin();
                var batch = connection.prepareStatement("SELECT id, customer, change FROM feed"
                        + " WHERE part = ? AND sent_at IS NULL ORDER BY id LIMIT 100");
                var mark = connection.prepareStatement("UPDATE feed SET sent_at = clock_timestamp() WHERE id = ?")) {
            part.fence(connection); // nobody else has this part until the commit
            batch.setInt(1, part.number());
            int rows = 0;
            try (var row = batch.executeQuery()) {
                while (row.next()) {
                    transmit(row.getString("customer"), row.getString("change"), part.token());
                    mark.setLong(1, row.getLong("id"));
                    mark.executeUpdate();
                    rows++;
                }
            }
            connection.commit();
            return rows;
        }
    }
    // end::send

    private void transmit(String customer, String change, long token) {
        assertThat(token).isPositive();
        sent.add(customer + ' ' + change);
        all.countDown();
    }
}
