package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Transactions for handlers on sessions whose own isolation is not READ COMMITTED, or is no more. */
@PostgresTest
@Tag("B47")
final class JdbcTransactionsIT {
    @Test
    void a_session_whose_isolation_was_changed_behind_its_pool_costs_one_attempt_and_is_asked_again(TestSchema schema)
            throws Exception {
        try (HikariDataSource pool = oneSession(schema)) {
            JdbcTransactions transactions = JdbcTransactions.remembering(pool::getConnection);
            Strict strict = new Strict();
            transactions.run(strict);
            transactions.run(strict);
            change(pool);

            assertThatThrownBy(() -> transactions.run(strict)).hasMessage("repeatable read");
            transactions.run(strict);
            transactions.run(strict);

            assertThat(strict.ended).isEqualTo(4);
        }
    }

    @Test
    void who_remembers_nothing_asks_each_time(TestSchema schema) throws Exception {
        try (HikariDataSource pool = oneSession(schema)) {
            JdbcTransactions transactions = new JdbcTransactions(pool::getConnection);
            Strict strict = new Strict();
            transactions.run(strict);
            change(pool);
            transactions.run(strict);

            assertThat(strict.ended).isEqualTo(2);
        }
    }

    /** Refuses any isolation but READ COMMITTED at its end, as the completion of a job does. */
    private static final class Strict implements TransactionRunner.Work<Connection> {
        private int ended;

        @Override
        public void begun(Connection connection) {}

        @Override
        public void handle(Connection connection) {}

        @Override
        public void completing(Connection connection) throws SQLException {
            String isolation = text(connection, "SHOW transaction_isolation");
            if (!isolation.equals("read committed")) {
                throw new SQLException(isolation);
            }
            ended++;
        }
    }

    private static HikariDataSource oneSession(TestSchema schema) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(schema.dataSource());
        config.setMaximumPoolSize(1);
        return new HikariDataSource(config);
    }

    private static void change(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ");
        }
    }

    private static String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
