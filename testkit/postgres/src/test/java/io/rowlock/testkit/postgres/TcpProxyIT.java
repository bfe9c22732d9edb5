package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@PostgresTest
final class TcpProxyIT {

    private static final Duration SOON = Duration.ofSeconds(5);

    private final TestSchema schema;
    private final TcpProxy proxy;

    TcpProxyIT(TestSchema schema) {
        this.schema = schema;
        this.proxy = TcpProxy.to(schema.server());
    }

    @BeforeEach
    void table() throws Exception {
        schema.execute("DROP TABLE IF EXISTS note; CREATE TABLE note (id bigint PRIMARY KEY)");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void carries_statements_and_answers_both_ways() throws Exception {
        try (Connection connection = connect()) {
            assertThat(Statements.update(connection, "INSERT INTO note SELECT generate_series(1, 20000)"))
                    .isEqualTo(20_000);
            assertThat(Statements.list(connection, Long.class, "SELECT id FROM note ORDER BY id"))
                    .hasSize(20_000);
            assertThat(proxy.connections()).isOne();
        }
        await().until(() -> proxy.connections() == 0);
    }

    @Test
    void counts_how_often_a_client_waits_and_tells_each_statement_of_a_batch() throws Exception {
        Queue<String> told = new ConcurrentLinkedQueue<>();
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            proxy.tell(told::add);
            long before = proxy.roundTrips();
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO note VALUES (?)")) {
                for (int id = 0; id < 3; id++) {
                    insert.setInt(1, id);
                    insert.addBatch();
                }
                insert.executeBatch();
            }
            assertThat(proxy.roundTrips() - before).as("the batch, with BEGIN").isEqualTo(1);
            connection.commit();
            assertThat(proxy.roundTrips() - before).isEqualTo(2);
        }
        String insert = "INSERT INTO note VALUES ($1)";
        assertThat(told).containsExactly("BEGIN", insert, insert, insert, "COMMIT");
    }

    @Test
    void cut_resets_present_connections_and_lets_new_ones_in() throws Exception {
        try (Connection before = connect()) {
            proxy.cut();
            assertConnectionLost(() -> ask(before));
        }
        try (Connection after = connect()) {
            ask(after);
        }
    }

    @Test
    void refuse_keeps_new_connections_out_and_leaves_present_ones() throws Exception {
        try (Connection present = connect()) {
            proxy.refuse();
            assertConnectionLost(() -> connect().close());
            ask(present);
            proxy.accept();
            connect().close();
        }
    }

    @Test
    void frozen_connections_are_silent_and_go_on_when_thawed() throws Exception {
        try (Connection connection = connect()) {
            proxy.freeze();
            CompletableFuture<Void> present = inBackground(() -> ask(connection));
            CompletableFuture<Void> fresh = inBackground(() -> connect().close());
            await().during(Duration.ofMillis(300)).until(() -> !present.isDone() && !fresh.isDone());
            proxy.thaw();
            assertThat(present).succeedsWithin(SOON);
            assertThat(fresh).succeedsWithin(SOON);
        }
    }

    @Test
    void server_does_not_learn_of_a_client_that_died_while_frozen() throws Exception {
        Connection connection = connect();
        int pid = Statements.list(connection, Integer.class, "SELECT pg_backend_pid()")
                .get(0);
        proxy.freeze();
        connection.abort(Runnable::run);
        await().during(Duration.ofMillis(300)).until(() -> isAlive(pid));
        proxy.thaw();
        await().atMost(SOON).until(() -> !isAlive(pid));
    }

    @Test
    void cut_ends_frozen_connections_too() throws Exception {
        try (Connection connection = connect()) {
            proxy.freeze();
            CompletableFuture<Void> asking = inBackground(() -> ask(connection));
            proxy.cut();
            assertThat(asking).failsWithin(SOON);
            assertThat(proxy.connections()).isZero();
        }
    }

    @Test
    void delay_slows_both_directions_and_a_long_answer_only_once() throws Exception {
        Duration each = Duration.ofMillis(100);
        try (Connection connection = connect()) {
            proxy.delay(each);
            long before = System.nanoTime();
            ask(connection);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(each.multipliedBy(2));
            CompletableFuture<Void> rows = inBackground(
                    () -> assertThat(Statements.list(connection, Long.class, "SELECT generate_series(1, 2000)::bigint"))
                            .hasSize(2_000)); // each message by itself would take minutes
            assertThat(rows).succeedsWithin(SOON.multipliedBy(4));
        }
    }

    @Test
    void what_waits_for_a_long_delay_goes_on_when_it_is_taken_away() throws Exception {
        try (Connection connection = connect()) {
            proxy.delay(Duration.ofHours(1));
            CompletableFuture<Void> asking = inBackground(() -> ask(connection));
            await().during(Duration.ofMillis(300)).until(() -> !asking.isDone());
            proxy.delay(Duration.ZERO);
            assertThat(asking).succeedsWithin(SOON);
        }
        assertThatThrownBy(() -> proxy.delay(Duration.ofMillis(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void cut_ends_delayed_connections_too() throws Exception {
        try (Connection connection = connect()) {
            proxy.delay(Duration.ofHours(1));
            CompletableFuture<Void> asking = inBackground(() -> ask(connection));
            proxy.cut();
            assertThat(asking).failsWithin(SOON);
            assertThat(proxy.connections()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20})
    void cut_before_commit_leaves_nothing_committed(int earlierTransactions) throws Exception {
        try (Connection connection = begin(earlierTransactions)) {
            PlannedCut cut = proxy.cutBefore("COMMIT");
            Statements.update(connection, "INSERT INTO note VALUES (1)");
            assertThat(cut.hasFired()).isFalse();
            assertConnectionLost(connection::commit);
            cut.awaitFired(SOON);
        }
        await().atMost(SOON).until(() -> schema.count("""
                SELECT count(*) FROM pg_stat_activity
                 WHERE application_name = ? AND pid <> pg_backend_pid()""", schema.name()) == 0);
        assertThat(schema.count("SELECT count(*) FROM note WHERE id = 1")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20})
    void cut_after_commit_leaves_the_row_committed_while_the_client_gets_an_error(int earlierTransactions)
            throws Exception {
        try (Connection connection = begin(earlierTransactions)) {
            PlannedCut cut = proxy.cutAfter("COMMIT");
            Statements.update(connection, "INSERT INTO note VALUES (1)");
            assertConnectionLost(connection::commit);
            assertThat(cut.hasFired()).isTrue();
        }
        assertThat(schema.count("SELECT count(*) FROM note WHERE id = 1")).isOne();
    }

    @Test
    void cut_after_a_statement_that_the_driver_only_names_has_run_it_once() throws Exception {
        assertThat(insertUntilCut(proxy::cutAfter)).isEqualTo(20);
    }

    @Test
    void cut_before_a_statement_that_the_driver_only_names_has_not_run_it() throws Exception {
        assertThat(insertUntilCut(proxy::cutBefore)).isEqualTo(19);
    }

    /**
     * Inserts 19 rows through an uncut connection, then one more through the same prepared statement; how many there
     * are.
     */
    private long insertUntilCut(Function<String, PlannedCut> plan) throws Exception {
        try (Connection connection = connect();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO note VALUES (1000 + ?)")) {
            for (int i = 1; i < 20; i++) {
                insert.setInt(1, i);
                insert.executeUpdate();
            }
            PlannedCut cut = plan.apply("(1000 + ");
            insert.setInt(1, 20);
            assertConnectionLost(insert::executeUpdate);
            assertThat(cut.hasFired()).isTrue();
        }
        return schema.count("SELECT count(*) FROM note");
    }

    @Test
    void planned_cut_fires_once() throws Exception {
        PlannedCut cut = proxy.cutBefore("/* chosen */");
        try (Connection connection = connect()) {
            ask(connection);
            assertConnectionLost(() -> Statements.rows(connection, "/* chosen */ SELECT 1"));
        }
        try (Connection connection = connect()) {
            assertThat(Statements.rows(connection, "/* chosen */ SELECT 1")).hasSize(1);
        }
        assertThat(cut.hasFired()).isTrue();
    }

    @Test
    void cancelled_cut_lets_the_statement_through() throws Exception {
        PlannedCut cut = proxy.cutBefore("/* chosen */");
        cut.cancel();
        try (Connection connection = connect()) {
            assertThat(Statements.rows(connection, "/* chosen */ SELECT 1")).hasSize(1);
        }
        assertThatThrownBy(() -> cut.awaitFired(Duration.ofMillis(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it was cancelled")
                .hasMessageContaining("/* chosen */");
    }

    @Test
    void redirect_sends_new_connections_elsewhere() throws Exception {
        try (TcpProxy nowhere = TcpProxy.to("127.0.0.1", FreePort.find())) {
            assertConnectionLost(
                    () -> nowhere.dataSource(schema).getConnection().close());
            nowhere.redirect(schema.server());
            nowhere.dataSource(schema).getConnection().close();
            nowhere.redirect(FreePort.find());
            assertConnectionLost(
                    () -> nowhere.dataSource(schema).getConnection().close());
        }
    }

    private Connection connect() throws SQLException {
        return proxy.dataSource(schema).getConnection();
    }

    /** After a few transactions the driver no longer sends the text of COMMIT, only the name it gave it. */
    private Connection begin(int earlierTransactions) throws SQLException {
        Connection connection = connect();
        connection.setAutoCommit(false);
        for (int i = 0; i < earlierTransactions; i++) {
            ask(connection);
            connection.commit();
        }
        return connection;
    }

    private static void ask(Connection connection) throws SQLException {
        assertThat(Statements.list(connection, Integer.class, "SELECT 42")).containsExactly(42);
    }

    private boolean isAlive(int pid) throws SQLException {
        return schema.count("SELECT count(*) FROM pg_stat_activity WHERE pid = ?", pid) > 0;
    }

    private static void assertConnectionLost(Sql statement) {
        assertThatThrownBy(statement::run)
                .isInstanceOf(SQLException.class)
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).startsWith("08"));
    }

    private static CompletableFuture<Void> inBackground(Sql statement) {
        return CompletableFuture.runAsync(() -> {
            try {
                statement.run();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private interface Sql {
        void run() throws SQLException;
    }
}
