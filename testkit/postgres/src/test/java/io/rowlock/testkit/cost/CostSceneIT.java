package io.rowlock.testkit.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What is counted is what is done, and nothing of the counting. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CostSceneIT {
    private CostServer server;
    private CostScene scene;

    @BeforeAll
    void start() throws Exception {
        server = CostServer.start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @BeforeEach
    void table() throws Exception {
        scene = server.scene("note");
        scene.schema().execute("CREATE TABLE note (id int PRIMARY KEY, size int, place int) WITH (fillfactor = 40)");
        scene.schema().execute("CREATE INDEX note_place ON note (place)");
        scene.after(() -> scene.schema().execute("DELETE FROM note"));
    }

    @AfterEach
    void drop() throws Exception {
        scene.close();
    }

    private void insert(Connection connection, int notes) throws Exception {
        try (PreparedStatement insert =
                connection.prepareStatement("/* rowlock:insert */ INSERT INTO note VALUES (?, 0, 0)")) {
            for (int id = 1; id <= notes; id++) {
                insert.setInt(1, id);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private void write() throws Exception {
        scene.schema().execute("INSERT INTO note SELECT i, 0, 0 FROM generate_series(1, 100) i");
    }

    private void update(String column) throws Exception {
        try (Connection connection = scene.dataSource().getConnection();
                PreparedStatement update = connection.prepareStatement("UPDATE note SET " + column + " = 1")) {
            update.execute();
        }
    }

    @Test
    void batch_is_many_statements_and_one_round_trip_and_begin_is_none() throws Exception {
        Cost cost = scene.measure(10, "notes", () -> {
            try (Connection connection = scene.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                insert(connection, 10);
                connection.commit();
            }
        });
        assertThat(cost.units()).isEqualTo(10);
        assertThat(cost.counts())
                .containsEntry(Cost.ROUND_TRIPS, 2L)
                .containsEntry(Cost.STATEMENTS, 12L)
                .containsEntry(Cost.UPDATES, 0L)
                .containsEntry("BEGIN, calls", 1L)
                .containsEntry("COMMIT, calls", 1L)
                .containsEntry("rowlock:insert, calls", 10L)
                .containsEntry(Cost.BUFFERS, cost.counts().get("rowlock:insert, buffers"));
        long rows = cost.counts().get("rowlock:insert, WAL bytes");
        assertThat(cost.counts().get(Cost.WAL)).as("with the commit").isGreaterThan(rows);
    }

    @Test
    void update_of_an_indexed_column_is_not_hot_and_that_of_another_is() throws Exception {
        scene.before(this::write);
        assertThat(scene.measure(100, "notes", () -> update("size")).counts())
                .containsEntry(Cost.UPDATES, 100L)
                .containsEntry(Cost.COLD_UPDATES, 0L);
        assertThat(scene.measure(100, "notes", () -> update("place")).counts())
                .containsEntry(Cost.UPDATES, 100L)
                .containsEntry(Cost.COLD_UPDATES, 100L);
    }

    @Test
    void nothing_costs_nothing() throws Exception {
        Map<String, Long> counts = scene.before(this::write)
                .ofRepetitions()
                .measure(1, "times", () -> {})
                .counts();
        assertThat(counts.keySet())
                .containsExactly(
                        Cost.ROUND_TRIPS, Cost.STATEMENTS, Cost.UPDATES, Cost.COLD_UPDATES, Cost.BUFFERS, Cost.WAL);
        assertThat(counts).allSatisfy((count, value) -> {
            if (!count.equals(Cost.WAL)) { // the server may note by itself which transactions run
                assertThat(value).as(count).isZero();
            }
        });
    }
}
