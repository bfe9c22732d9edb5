package io.rowlock.checkup;

import io.rowlock.Rowlock;
import io.rowlock.internal.checkup.RowlockCheckup;
import io.rowlock.internal.checkup.Serving;
import io.rowlock.internal.checkup.Thresholds;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.Names;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** An installation of its own with what a test asks of it. */
final class Checked implements AutoCloseable {
    /** Everything that is there at all is too old and too much. */
    static final Thresholds STRICT =
            new Thresholds(Duration.ZERO, 1, Duration.ofMinutes(5), Duration.ofSeconds(2), 100, 65_536);

    final TestSchema schema;
    final Rowlock rowlock;

    Checked(TestPostgres server) throws SQLException {
        schema = TestSchema.create(server, "checkup");
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    List<Finding> findings() {
        return rowlock.checkup();
    }

    /** Those of a data source whose URL says more. */
    List<Finding> with(String parameters) {
        return over(url(schema.url() + '&' + parameters)::getConnection);
    }

    List<Finding> over(ConnectionSource connections) {
        return Rowlock.builder()
                .connections(connections)
                .schema(schema.name())
                .build()
                .checkup();
    }

    List<Finding> strictly() {
        return by(STRICT, Clock.systemUTC(), List.of());
    }

    List<Finding> at(Clock clock) {
        return by(Thresholds.DEFAULT, clock, List.of());
    }

    List<Finding> beside(Set<String> kinds, Set<String> queues) {
        return by(Thresholds.DEFAULT, Clock.systemUTC(), List.of(new Serving(kinds, queues)));
    }

    private List<Finding> by(Thresholds thresholds, Clock clock, List<Serving> workers) {
        Names names = new Names(schema.name(), "rowlock_");
        ConnectionSource connections = schema.dataSource()::getConnection;
        return new RowlockCheckup(names, connections, new JdbcSchema(connections, names), thresholds, clock)
                .run(workers);
    }

    /** Types what the findings of this code say. */
    void cure(String code) throws SQLException {
        for (Finding each : findings()) {
            if (each.code().equals(code)) {
                schema.execute(each.remedy());
            }
        }
    }

    DataSource as(String role) {
        PGSimpleDataSource source = url(schema.url());
        source.setUser(role);
        source.setPassword("secret");
        return source;
    }

    private PGSimpleDataSource url(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(url);
        source.setUser(schema.user());
        source.setPassword(schema.password());
        return source;
    }

    static List<String> codes(List<Finding> findings) {
        return findings.stream().map(Finding::code).toList();
    }

    @Override
    public void close() throws SQLException {
        schema.close();
    }
}
