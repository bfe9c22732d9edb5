package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.spi.WorkerExtension;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerHealth.State;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PostgresTest
@Tag("P10")
@Timeout(120)
final class WorkerExtensionIT {
    @Kind("mail")
    private record Mail(int no) {}

    /** What happened, in order. */
    private final List<String> seen = new CopyOnWriteArrayList<>();

    private TestSchema schema;
    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        schema.execute("CREATE TABLE IF NOT EXISTS noted (what text, claims bigint, completed bigint); TRUNCATE noted");
    }

    @Test
    void an_extension_starts_before_the_first_claim_and_stops_after_the_last_outcome() throws Exception {
        long id = rowlock.enqueue(new Mail(1)).id();
        CountDownLatch begun = new CountDownLatch(1);

        Worker worker = rowlock.work(w -> w.extension(new Noting("one"))
                .extension(new Noting("two"))
                .handle(Mail.class, (mail, job) -> begun.countDown()));
        begun.await();
        worker.close();

        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
        assertThat(schema.list(String.class, "SELECT what || ' ' || claims || ' ' || completed FROM noted"))
                .containsExactly("one starting 0 0", "two starting 0 0", "one stopped 1 1", "two stopped 1 1");
        worker.close();
        assertThat(seen).containsExactly("one starting", "two starting", "one stopped", "two stopped");
    }

    @Test
    void what_starting_throws_fails_the_start_and_stops_those_that_had_started() throws Exception {
        rowlock.enqueue(new Mail(1));
        Worker worker = worker(w -> w.extension(new Noting("one"))
                .extension(starting(connection -> {
                    throw new InvalidUseException("no such saga");
                }))
                .extension(new Noting("three")));

        assertThatThrownBy(worker::start)
                .isInstanceOf(InvalidUseException.class)
                .hasMessage("no such saga");

        assertThat(worker.health().state()).isEqualTo(State.STOPPED);
        assertThat(seen).containsExactly("one starting", "one stopped");
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE attempts > 0"))
                .isZero();
    }

    @Test
    void what_time_does_not_cure_at_the_start_of_an_extension_is_thrown_with_advice() {
        WorkerExtension refused = starting(connection -> {
            throw new SQLException("permission denied for table rowlock_saga", "42501");
        });

        assertThatThrownBy(() -> worker(w -> w.extension(refused)).start())
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining("run the grants");
        assertThatThrownBy(() -> rowlock.rowlock()
                        .handCrankedWorker(w -> w.extension(new Noting("one"))
                                .extension(refused)
                                .handle(Mail.class, (mail, job) -> {})))
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining("run the grants");
        assertThat(seen).containsExactly("one starting", "one stopped");
    }

    @Test
    void what_time_cures_is_waited_for_and_nobody_starts_twice() throws Exception {
        long id = rowlock.enqueue(new Mail(1)).id();
        AtomicInteger calls = new AtomicInteger();

        try (Worker worker = worker(w -> w.extension(new Noting("one")).extension(starting(connection -> {
            if (calls.incrementAndGet() == 1) {
                throw new SQLException("the database system is starting up", "57P03");
            }
        })))) {
            worker.start();
            rowlock.awaitState(id, JobState.COMPLETED);
        }

        assertThat(calls).hasValue(2);
        assertThat(seen).containsExactly("one starting", "one stopped");
    }

    @Test
    void a_worker_that_is_stopped_while_an_extension_waits_to_start_stops_the_others() throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Worker worker = worker(w -> w.extension(new Noting("one")).extension(starting(connection -> {
            waiting.countDown();
            throw new SQLException("the database system is starting up", "57P03");
        })));
        Thread starting = new Thread(() -> thrown.set(catchThrowable(worker::start)));
        starting.start();
        waiting.await();

        worker.close();
        starting.join();

        assertThat(thrown.get()).isInstanceOf(DatabaseException.class).hasMessageContaining("was stopped");
        assertThat(seen).containsExactly("one starting", "one stopped");
    }

    @Test
    void housekeeping_is_done_again_soon_while_there_is_more() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        WorkerExtension extension = housekeeping(connection -> {
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            return turns.incrementAndGet() < 3;
        });

        try (Worker worker = worker(w -> w.extension(extension))) {
            worker.start();
            TestRowlock.soon().until(() -> turns.get() == 3);
        }
        assertThat(rowlock.events(LoopFailed.class)).isEmpty();
    }

    @Test
    void housekeeping_that_throws_or_leaves_a_transaction_open_stops_neither_others_nor_the_worker() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        WorkerExtension broken = housekeeping(connection -> {
            note(connection, "kept");
            connection.setAutoCommit(false);
            note(connection, "not committed");
            throw new SQLException("of the extension", "22012");
        });
        WorkerExtension worse = housekeeping(connection -> {
            connection.setAutoCommit(false);
            throw new LinkageError("of the extension");
        });
        WorkerExtension untidy = housekeeping(connection -> {
            connection.setAutoCommit(false);
            note(connection, "not committed");
            return false;
        });

        try (Worker worker = worker(w -> w.extension(broken)
                .extension(worse)
                .extension(untidy)
                .extension(housekeeping(connection -> turns.incrementAndGet() < 3)))) {
            worker.start();
            TestRowlock.soon().until(() -> turns.get() == 3);
            rowlock.awaitState(rowlock.enqueue(new Mail(1)).id(), JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(schema.list(String.class, "SELECT what FROM noted")).containsExactly("kept");
        assertThat(rowlock.events(LoopFailed.class))
                .extracting(LoopFailed::loop, failed -> failed.cause().getClass())
                .containsExactly(tuple("housekeeping", SQLException.class), tuple("housekeeping", LinkageError.class));
    }

    @Test
    void a_pruner_that_fails_keeps_no_extension_from_its_housekeeping() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        rowlock.enqueue(new Mail(1));
        schema.execute("""
                UPDATE rowlock_job SET state = 'completed', finished_at = '2020-01-01', waiting_key = NULL;
                CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not here'; END $$;
                CREATE TRIGGER refuse BEFORE DELETE ON rowlock_job FOR EACH ROW EXECUTE FUNCTION refuse();
                """);
        try (Worker worker = worker(w -> w.extension(housekeeping(connection -> turns.incrementAndGet() < 3)))) {
            worker.start();
            TestRowlock.soon().until(() -> turns.get() == 3);
        } finally {
            schema.execute("DROP TRIGGER refuse ON rowlock_job");
        }
        assertThat(rowlock.events(LoopFailed.class))
                .isNotEmpty()
                .allSatisfy(failed -> assertThat(failed.loop()).isEqualTo("pruner"));
    }

    @Test
    void an_extension_that_throws_at_the_end_keeps_nobody_from_it() throws Exception {
        Worker worker = worker(w -> w.extension(new WorkerExtension() {
                    @Override
                    public void stopped() {
                        throw new LinkageError("of the extension");
                    }
                })
                .extension(new Noting("two")));
        worker.start();

        worker.close();

        assertThat(seen).containsExactly("two starting", "two stopped");
        assertThat(worker.health().state()).isEqualTo(State.STOPPED);
    }

    @Test
    void by_hand_an_extension_starts_when_the_worker_is_made_and_stops_when_it_is_closed() throws Exception {
        rowlock.enqueue(new Mail(1));
        WorkerExtension never = housekeeping(connection -> {
            throw new IllegalStateException("not by hand");
        });

        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.extension(new Noting("one"))
                        .extension(never)
                        .handle(Mail.class, (mail, job) -> seen.add("handled")))) {
            assertThat(seen).containsExactly("one starting");
            assertThat(worker.drain()).isEqualTo(1);
        }

        assertThat(seen).containsExactly("one starting", "handled", "one stopped");
        assertThat(rowlock.events(LoopFailed.class)).isEmpty();
    }

    private Worker worker(Consumer<WorkerConfig> config) {
        return rowlock.rowlock().worker(w -> {
            w.poll(Duration.ofMillis(20)).handle(Mail.class, (mail, job) -> {});
            config.accept(w);
        });
    }

    @FunctionalInterface
    private interface Start {
        void over(Connection connection) throws SQLException;
    }

    private static WorkerExtension starting(Start start) {
        return new WorkerExtension() {
            @Override
            public void starting(Connection connection) throws SQLException {
                start.over(connection);
            }
        };
    }

    @FunctionalInterface
    private interface Turn {
        boolean over(Connection connection) throws SQLException;
    }

    private static WorkerExtension housekeeping(Turn turn) {
        return new WorkerExtension() {
            @Override
            public boolean housekeeping(Connection connection) throws SQLException {
                return turn.over(connection);
            }
        };
    }

    private static void note(Connection connection, String what) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO noted SELECT '" + what + "', coalesce(sum(attempts), 0),"
                    + " count(*) FILTER (WHERE state = 'completed') FROM rowlock_job");
        }
    }

    /** Notes how many claims and completed jobs there are when it is called. */
    private final class Noting implements WorkerExtension {
        private final String name;

        Noting(String name) {
            this.name = name;
        }

        @Override
        public void starting(Connection connection) throws SQLException {
            assertThat(connection.getAutoCommit()).isTrue();
            note(connection, name + " starting");
            seen.add(name + " starting");
        }

        @Override
        public void stopped() {
            try (Connection connection = schema.connect()) {
                note(connection, name + " stopped");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            seen.add(name + " stopped");
        }
    }
}
