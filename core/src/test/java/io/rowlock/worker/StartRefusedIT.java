package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerHealth.State;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** What a server refuses for good ends a start at once: a process that waits for ever looks like one that works. */
@PostgresTest
@Tag("P10")
@Timeout(60)
final class StartRefusedIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock.fresh(schema);
    }

    @Test
    void a_login_that_is_refused_is_thrown() {
        assertRefused(source(nobody -> nobody.setUser(schema.name() + "_nobody")), "28", "check user and password");
    }

    @Test
    void a_database_that_does_not_exist_is_thrown() {
        assertRefused(source(nowhere -> nowhere.setDatabaseName("rowlock_nowhere")), "3D000", "check the URL");
    }

    @Test
    void a_pool_does_not_hide_it() {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(source(nowhere -> nowhere.setDatabaseName("rowlock_nowhere")));
            pool.setConnectionTimeout(500);
            pool.setInitializationFailTimeout(-1);
            assertRefused(pool, "3D000", "check the URL");
        }
    }

    @Test
    void a_missing_right_is_thrown() throws Exception {
        String role = schema.name() + "_guest";
        schema.execute(
                "CREATE ROLE " + role + " LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA " + schema.name() + " TO " + role);
        try {
            DataSource guest = source(source -> {
                source.setUser(role);
                source.setPassword("x");
            });
            assertRefused(guest, "42501", "run the grants");
        } finally {
            schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
    }

    private PGSimpleDataSource source(Consumer<PGSimpleDataSource> change) {
        PGSimpleDataSource source = schema.dataSource();
        change.accept(source);
        return source;
    }

    private void assertRefused(DataSource source, String state, String advice) {
        Rowlock rowlock =
                Rowlock.builder().dataSource(source).schema(schema.name()).build();
        Worker worker = rowlock.worker(w -> w.handle(Mail.class, (mail, job) -> {}));

        assertThatThrownBy(worker::start)
                .isInstanceOfSatisfying(
                        DatabaseException.class,
                        refused -> assertThat(refused.sqlState()).startsWith(state))
                .hasMessageContaining("waiting would not help")
                .hasMessageContaining(advice);
        assertThat(worker.health().state()).isEqualTo(State.STOPPED);
        assertThatThrownBy(() -> rowlock.handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {})))
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining(advice);
    }
}
