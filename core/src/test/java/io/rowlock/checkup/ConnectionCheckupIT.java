package io.rowlock.checkup;

import static io.rowlock.checkup.Checked.codes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.FakePooler;
import io.rowlock.testkit.postgres.TestPostgres;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a checkup says about connections, their settings and the clocks. */
final class ConnectionCheckupIT {
    private Checked checked;

    @BeforeEach
    void install() throws Exception {
        checked = new Checked(TestPostgres.shared());
    }

    @AfterEach
    void drop() throws Exception {
        checked.close();
    }

    @Test
    @Tag("B22")
    void a_pooler_in_transaction_mode_is_found_even_when_it_is_idle() throws Exception {
        try (FakePooler pooler = new FakePooler(checked.schema.dataSource(), 2)) {
            assertThat(checked.over(pooler))
                    .filteredOn(each -> each.code().equals("transaction-pooler"))
                    .singleElement()
                    .extracting(Finding::severity)
                    .isEqualTo(Severity.PROBLEM);
        }
        assertThat(codes(checked.findings())).doesNotContain("transaction-pooler");
    }

    @Test
    void a_pool_without_a_second_connection_is_too_small() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(checked.schema.dataSource());
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(250);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            assertThat(codes(checked.over(pool::getConnection))).contains("second-connection");
            pool.setMaximumPoolSize(2);
            assertThat(codes(checked.over(pool::getConnection))).doesNotContain("second-connection");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "connectTimeout=0 | connect-timeout | WARNING",
                "socketTimeout=5 | short-socket-timeout | WARNING",
                "options=-c%20statement_timeout=900 | statement-timeout | WARNING",
                "options=-c%20idle_session_timeout=600000 | idle-session-timeout | WARNING",
                "options=-c%20idle_in_transaction_session_timeout=30000 | idle-transaction-timeout | REMARK",
                "options=-c%20transaction_timeout=30000 | transaction-timeout | WARNING",
                "options=-c%20default_transaction_read_only=on | read-only | PROBLEM",
                "options=-c%20default_transaction_isolation=serializable | default-isolation | REMARK"
            })
    @Tag("B51")
    void what_connections_begin_with_is_named_where_it_hurts(String parameter, String code, Severity severity) {
        assertThat(checked.with(parameter))
                .filteredOn(each -> each.code().equals(code))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.severity()).isEqualTo(severity);
                    assertThat(each.remedy()).isNotBlank();
                });
        assertThat(codes(checked.findings())).doesNotContain(code);
    }

    @Test
    @Tag("B51")
    void keep_alive_or_a_socket_timeout_is_asked_for() {
        assertThat(codes(checked.findings())).contains("silent-connection");
        assertThat(codes(checked.with("tcpKeepAlive=true"))).doesNotContain("silent-connection");
        assertThat(codes(checked.with("socketTimeout=60"))).doesNotContain("silent-connection", "short-socket-timeout");
    }

    @Test
    @Tag("B24")
    void a_clock_that_is_off_is_named_with_how_much() {
        assertThat(checked.at(Clock.offset(Clock.systemUTC(), Duration.ofMinutes(-1))))
                .filteredOn(each -> each.code().equals("clock-skew"))
                .singleElement()
                .satisfies(each -> assertThat(each.seen()).contains("behind"));
        assertThat(codes(checked.findings())).doesNotContain("clock-skew");
    }

    @Test
    void connections_that_run_out_are_named() throws Exception {
        String role = "r_" + checked.schema.name();
        checked.schema.execute("CREATE ROLE " + role + " LOGIN SUPERUSER PASSWORD 'secret' CONNECTION LIMIT 3");
        assertThat(codes(checked.over(checked.as(role)::getConnection))).contains("connections-few");
        checked.schema.execute("DROP ROLE " + role);
    }

    @Test
    void a_database_out_of_reach_is_a_finding() {
        assertThat(checked.over(() -> {
                    throw new SQLException("Connection refused", "08001");
                }))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.code()).isEqualTo("unreachable");
                    assertThat(each.severity()).isEqualTo(Severity.PROBLEM);
                    assertThat(each.seen()).contains("08001", "Connection refused");
                });
    }

    @Test
    void without_a_data_source_there_is_nothing_to_look_at() {
        Rowlock none = Rowlock.builder().build();

        assertThatThrownBy(none::checkup).isInstanceOf(InvalidUseException.class);
    }

    @Test
    @Tag("P14")
    void a_connection_goes_back_as_it_came_and_nothing_was_written() throws Exception {
        try (Connection connection = checked.schema.connect()) {
            connection.setAutoCommit(false);
            connection.setNetworkTimeout(Runnable::run, 12_345);
            AtomicInteger opened = new AtomicInteger();
            checked.over(() -> opened.getAndIncrement() == 0 ? unclosed(connection) : checked.schema.connect());

            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(connection.getNetworkTimeout()).isEqualTo(12_345);
            connection.setAutoCommit(true);
            try (var statement = connection.createStatement();
                    var row = statement.executeQuery(
                            "SELECT current_setting('statement_timeout') || current_setting('lock_timeout')"
                                    + " || current_setting('transaction_read_only')")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("00off");
            }
        }
    }

    /** Closing it does nothing, as if a pool took it back. */
    private static Connection unclosed(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                        method.getName().equals("close") ? null : method.invoke(connection, arguments));
    }
}
