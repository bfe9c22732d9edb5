package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.tx.TransactionRetry;
import io.rowlock.tx.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

@PostgresTest
class TransactionsIT {
    private final TestSchema schema;
    private final DataSource dataSource;

    TransactionsIT(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.dataSource = schema.dataSource();
        schema.execute("DROP TABLE IF EXISTS account; CREATE TABLE account (id int PRIMARY KEY, balance int);"
                + " INSERT INTO account VALUES (1, 100), (2, 0)");
    }

    @Test
    void a_transfer() throws SQLException {
        // tag::retrying
        int left = Transactions.retrying(dataSource, connection -> transfer(connection, 10));
        // end::retrying
        assertThat(left).isEqualTo(90);
    }

    @Test
    void a_transfer_that_may_be_done_twice() throws SQLException {
        // tag::options
        TransactionRetry retry = TransactionRetry.standard()
                .policy(RetryPolicy.exponential(Duration.ofMillis(50)).maxAttempts(30))
                .within(Duration.ofMinutes(1))
                .ofIdempotentWork(); // sets a value: done twice, it is the same
        Transactions.retrying(dataSource, retry, connection -> {
            try (Statement statement = connection.createStatement()) {
                return statement.executeUpdate("UPDATE account SET balance = 50 WHERE id = 1");
            }
        });
        // end::options
        assertThat(schema.count("SELECT balance::bigint FROM account WHERE id = 1"))
                .isEqualTo(50);
    }

    private static int transfer(Connection connection, int amount) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE account SET balance = balance + " + amount + " WHERE id = 2");
            try (var row = statement.executeQuery(
                    "UPDATE account SET balance = balance - " + amount + " WHERE id = 1 RETURNING balance")) {
                row.next();
                return row.getInt(1);
            }
        }
    }
}
