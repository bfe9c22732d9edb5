package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class OwnPostgresIT {

    private static final Duration SOON = Duration.ofSeconds(10);

    private static final OwnPostgres SERVER = TestPostgres.embedded(
            o -> o.durable().setting("wal_level", "logical").setting("work_mem", "7MB"));

    @AfterAll
    static void close() throws Exception {
        Path data = Path.of(show(SERVER, "data_directory"));
        SERVER.close();
        SERVER.close();
        assertThat(data.getParent()).doesNotExist();
        assertThat(SERVER.isRunning()).isFalse();
    }

    @BeforeEach
    void table() throws Exception {
        if (!SERVER.isRunning()) {
            SERVER.start();
        }
        run("DROP TABLE IF EXISTS note; CREATE TABLE note (id bigint PRIMARY KEY)");
    }

    @Test
    void settings_are_those_that_were_asked_for() throws Exception {
        assertThat(show(SERVER, "fsync")).isEqualTo("on");
        assertThat(show(SERVER, "synchronous_commit")).isEqualTo("on");
        assertThat(show(SERVER, "full_page_writes")).isEqualTo("on");
        assertThat(show(SERVER, "wal_level")).isEqualTo("logical");
        assertThat(show(SERVER, "work_mem")).isEqualTo("7MB");
        assertThat(show(SERVER, "max_connections")).isEqualTo("300");
        assertThat(show(SERVER, "listen_addresses")).isEqualTo("127.0.0.1");
    }

    @Test
    void killed_server_keeps_committed_rows_and_its_port_and_loses_the_others() throws Exception {
        int port = SERVER.port();
        try (Connection connection = SERVER.connect()) {
            Statements.update(connection, "INSERT INTO note VALUES (1)");
            connection.setAutoCommit(false);
            Statements.update(connection, "INSERT INTO note VALUES (2)");
            List<Integer> pids = pids();

            SERVER.kill();

            assertThat(SERVER.isRunning()).isFalse();
            assertThat(pids)
                    .isNotEmpty()
                    .noneMatch(pid ->
                            ProcessHandle.of(pid).filter(ProcessTree::lives).isPresent());
            assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
                    .isInstanceOf(ConnectException.class);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        SERVER.start();
        assertThat(SERVER.port()).isEqualTo(port);
        assertThat(ids(SERVER)).containsExactly(1L);
    }

    @Test
    void killing_twice_and_starting_twice_is_told_apart() {
        SERVER.kill();
        SERVER.kill();
        assertThatThrownBy(SERVER::pause).isInstanceOf(IllegalStateException.class);
        SERVER.start();
        assertThatThrownBy(SERVER::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("runs already");
    }

    @Test
    void restarted_server_closes_connections_and_keeps_rows() throws Exception {
        try (Connection connection = SERVER.connect()) {
            Statements.update(connection, "INSERT INTO note VALUES (1)");
            SERVER.restart();
            assertThatThrownBy(() -> Statements.update(connection, "INSERT INTO note VALUES (2)"))
                    .isInstanceOf(SQLException.class);
        }
        assertThat(ids(SERVER)).containsExactly(1L);
    }

    @Test
    void paused_server_hangs_statements_and_new_connections_and_goes_on() throws Exception {
        try (Connection connection = SERVER.connect()) {
            SERVER.pause();
            CompletableFuture<Void> statement =
                    inBackground(() -> Statements.update(connection, "INSERT INTO note VALUES (1)"));
            CompletableFuture<Void> fresh = inBackground(() -> run("INSERT INTO note VALUES (2)"));
            await().during(Duration.ofMillis(500)).until(() -> !statement.isDone() && !fresh.isDone());
            assertThat(SERVER.isRunning()).isTrue();
            SERVER.unpause();
            assertThat(statement).succeedsWithin(SOON);
            assertThat(fresh).succeedsWithin(SOON);
        }
        assertThat(ids(SERVER)).containsExactly(1L, 2L);
    }

    @Test
    void paused_server_can_be_killed() {
        SERVER.pause();
        SERVER.kill();
        assertThat(SERVER.isRunning()).isFalse();
    }

    @Test
    void promoted_synchronous_standby_has_every_committed_row() throws Exception {
        try (OwnPostgres primary = TestPostgres.embedded(PostgresOptions::durable);
                OwnPostgres standby = primary.synchronousStandby();
                Connection connection = primary.connect()) {
            Statements.execute(connection, "CREATE TABLE note (id bigint PRIMARY KEY)");
            for (long id = 1; id <= 50; id++) {
                Statements.update(connection, "INSERT INTO note VALUES (?)", id);
            }
            primary.kill();
            standby.promote();
            assertThat(ids(standby)).hasSize(50);
            insert(standby, 51);
            standby.kill();
            standby.start();
            assertThat(ids(standby)).hasSize(51);
            assertThatThrownBy(standby::promote)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Not a standby");
        }
    }

    @Test
    void commits_wait_for_a_synchronous_standby_and_not_for_another() throws Exception {
        try (OwnPostgres primary = TestPostgres.embedded(o -> {});
                OwnPostgres standby = primary.standby();
                OwnPostgres synchronous = primary.synchronousStandby()) {
            run(primary, "CREATE TABLE note (id bigint PRIMARY KEY)");
            standby.pause();
            insert(primary, 1);
            standby.unpause();
            await().atMost(SOON).until(() -> ids(standby).contains(1L));
            assertThatThrownBy(() -> insert(standby, 2)).hasMessageContaining("read-only");

            synchronous.kill();
            CompletableFuture<Void> commit = inBackground(() -> insert(primary, 3));
            await().during(Duration.ofMillis(500)).until(() -> !commit.isDone());
            synchronous.start();
            assertThat(commit).succeedsWithin(SOON);
        }
    }

    @Test
    void unknown_setting_fails_with_what_the_server_said() {
        assertThatThrownBy(() -> TestPostgres.embedded(o -> o.setting("no_such_setting", "1")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no_such_setting");
        assertThatThrownBy(() -> TestPostgres.embedded(o -> o.setting("port", "1")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TestPostgres.embedded(o -> o.setting("fsync = on\nwork_mem", "1MB")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void what_a_killed_jvm_left_behind_is_cleared_away() throws Exception {
        Path data;
        long postmaster;
        try (ChildJvm child = ChildJvm.start(
                ServerMain.class, o -> o.property("java.io.tmpdir", System.getProperty("java.io.tmpdir")))) {
            String line = child.awaitLine("server ", Duration.ofSeconds(30));
            data = Path.of(line.substring("server ".length()));
            postmaster = Long.parseLong(
                    Files.readAllLines(data.resolve("postmaster.pid")).get(0));
            child.kill();
        }
        assertThat(data).exists();
        TestPostgres.embedded(o -> {}).close();
        assertThat(data.getParent()).doesNotExist();
        assertThat(ProcessHandle.of(postmaster).filter(ProcessTree::lives)).isEmpty();
    }

    private static String show(TestPostgres server, String setting) throws SQLException {
        try (Connection connection = server.connect()) {
            return Statements.list(connection, String.class, "SHOW " + setting).get(0);
        }
    }

    private static List<Long> ids(TestPostgres server) throws SQLException {
        try (Connection connection = server.connect()) {
            return Statements.list(connection, Long.class, "SELECT id FROM note ORDER BY id");
        }
    }

    private static List<Integer> pids() throws SQLException {
        try (Connection connection = SERVER.connect()) {
            return Statements.list(connection, Integer.class, "SELECT pid FROM pg_stat_activity");
        }
    }

    private static void insert(TestPostgres server, long id) throws SQLException {
        run(server, "INSERT INTO note VALUES (" + id + ")");
    }

    private static void run(String sql) throws SQLException {
        run(SERVER, sql);
    }

    private static void run(TestPostgres server, String sql) throws SQLException {
        try (Connection connection = server.connect()) {
            Statements.execute(connection, sql);
        }
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
