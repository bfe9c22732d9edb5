package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A database whose default is not READ COMMITTED, and transactions that fail with a serialization failure. */
@PostgresTest
@Tag("B47")
final class IsolationIT {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind("booking")
    private record Booking(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schema.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (no int, attempt int)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void two_workers_end_two_thousand_jobs_once_each_whatever_the_default_isolation(String isolation) throws Exception {
        try (HikariDataSource pool = pool(isolation)) {
            Rowlock strict =
                    Rowlock.builder().dataSource(pool).schema(schema.name()).build();
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                strict.outbox().enqueueAll(connection, requests(Mail::new));
                strict.outbox().enqueueAll(connection, requests(Booking::new));
                connection.commit();
            }
            workOff(strict);
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getTransactionIsolation()).isNotEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            }
        }

        assertThat(schema.count("SELECT count(DISTINCT no) FROM effect")).isEqualTo(1_000);
        assertThat(schema.count("SELECT count(*) FROM effect")).isEqualTo(1_000);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed' AND attempts = 1"))
                .isEqualTo(2_000);
    }

    private void workOff(Rowlock strict) {
        Map<Integer, Integer> mails = new ConcurrentHashMap<>();
        Consumer<WorkerConfig> config = w -> w.queue("default", 8)
                .poll(Duration.ofMillis(20))
                .handle(Mail.class, (mail, job) -> mails.merge(mail.no(), 1, Integer::sum))
                .handleTransactionally(
                        Booking.class, (booking, job, connection) -> write(connection, booking.no(), job.attempt()));

        try (Worker one = strict.worker(config);
                Worker two = strict.worker(config)) {
            one.start();
            two.start();
            rowlock.awaitAllEnded();
            assertThat(one.health().loops()).isEmpty();
            assertThat(two.health().loops()).isEmpty();
        }
        assertThat(mails).hasSize(1_000);
        assertThat(mails.values()).containsOnly(1);
    }

    private HikariDataSource pool(String isolation) {
        PGSimpleDataSource source = schema.dataSource();
        source.setOptions("-c default_transaction_isolation=" + isolation.replace(" ", "\\ "));
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(24);
        return new HikariDataSource(config);
    }

    private static List<JobRequest<?>> requests(IntFunction<Object> payload) {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int no = 0; no < 1_000; no++) {
            requests.add(JobRequest.of(payload.apply(no)));
        }
        return requests;
    }

    @Test
    void a_serialization_failure_at_the_commit_of_a_handlers_transaction_is_a_failure_like_any_other()
            throws Exception {
        schema.execute("DROP SEQUENCE IF EXISTS commits; CREATE SEQUENCE commits;"
                + "CREATE OR REPLACE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " IF nextval('commits') <= 2 THEN RAISE EXCEPTION 'could not serialize access'"
                + " USING ERRCODE = '40001'; END IF; RETURN NULL; END $$;"
                + "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED"
                + " FOR EACH ROW EXECUTE FUNCTION fail_once()");
        long id = rowlock.enqueue(new Booking(1)).id();

        try (Worker worker = rowlock.work(w -> w.handleTransactionally(
                Booking.class,
                (booking, job, connection) -> write(connection, booking.no(), job.attempt()),
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(3);
        assertThat(rowlock.rowlock().jobs().failures(id))
                .extracting(JobFailure::message)
                .hasSize(2)
                .allSatisfy(message -> assertThat(message).contains("could not serialize access"));
    }

    @Test
    void a_serialization_failure_in_a_leased_handlers_own_transaction_is_tried_again() throws Exception {
        schema.execute("INSERT INTO effect VALUES (0, 0)");
        rowlock.enqueueAll(IntStream.range(0, 60).mapToObj(Mail::new).toList());

        try (Worker worker = rowlock.work(w -> w.queue("default", 16)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            try (Connection own = schema.begin()) {
                                own.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                                own.createStatement().executeUpdate("UPDATE effect SET no = no + 1");
                                own.commit();
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(10)).maxAttempts(1_000))))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(schema.list(Integer.class, "SELECT no FROM effect")).isEqualTo(List.of(60));
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(60);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure WHERE error_class"
                        + " = 'org.postgresql.util.PSQLException'"))
                .as("it did happen")
                .isPositive();
    }

    private static void write(Connection connection, int no, int attempt) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
            insert.setInt(1, no);
            insert.setInt(2, attempt);
            insert.executeUpdate();
        }
    }
}
