package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a leader writes over its session is committed and told so, or is not there. */
@PostgresTest
@Timeout(120)
final class LeaderSessionIT {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch written = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final TestSchema schema;
    private TestRowlock here;
    private AdvisoryLeader leader;

    LeaderSessionIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        leader = here.rowlock().advisoryLeader("scheduler");
        schema.execute("DROP TABLE IF EXISTS written; CREATE TABLE written (n integer PRIMARY KEY)");
    }

    @AfterEach
    void end() {
        goesOn.countDown();
        leader.close();
        threads.shutdownNow();
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new StackOverflowError(),
                new SQLException("no funds"),
                new SQLException("of another database", "08006"),
                new SQLException("of another database", "25006"),
                new IllegalStateException("no paper"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void what_failed_is_rolled_back_whatever_was_thrown_and_costs_no_leadership(Throwable failure) throws Exception {
        leader.tryAcquire();
        Throwable thrown = catchThrowable(() -> leader.withLeaderSession(session -> {
            insert(session, 1);
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        }));

        assertThat(thrown).isSameAs(failure).hasNoSuppressedExceptions();
        assertThat(leader.withLeaderSession(session -> insert(session, 2))).isTrue();
        assertThat(leader.leads()).isTrue();
        assertThat(here.events(LeaderSessionLost.class)).isEmpty();
        assertThat(rows()).containsExactly(2);
    }

    /** The driver takes the server's ROLLBACK for a commit. */
    @Test
    void a_failure_that_the_work_hides_is_told_and_not_taken_for_a_commit() throws Exception {
        assertThatThrownBy(() -> leader.withLeaderSession(session -> {
                    insert(session, 1);
                    assertThatThrownBy(() -> insert(session, 1)).isInstanceOf(SQLException.class);
                }))
                .isInstanceOfSatisfying(
                        DatabaseException.class,
                        failed -> assertThat(failed.sqlState()).isEqualTo("23505"))
                .hasMessageContaining("was not committed");
        assertThat(rows()).isEmpty();
    }

    @Test
    void what_would_end_the_transaction_is_refused_and_so_is_another_writing_within_it() throws Exception {
        assertThatThrownBy(() -> leader.withLeaderSession(Connection::commit))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("commit is not for what a leader writes");
        assertThatThrownBy(() -> leader.withLeaderSession(session -> {
                    insert(session, 1);
                    leader.withLeaderSession(inner -> insert(inner, 2));
                }))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("writing over the leader's session already");
        assertThat(rows()).isEmpty();
    }

    @Test
    void within_a_writing_the_thread_leads_also_when_a_statement_has_failed() throws Exception {
        assertThatThrownBy(() -> leader.withLeaderSession(session -> {
                    insert(session, 1);
                    assertThatThrownBy(() -> insert(session, 1)).isInstanceOf(SQLException.class);
                    assertThat(leader.withLeaderLock(() -> {})).isTrue();
                    assertThat(leader.tryAcquire()).isTrue();
                    leader.release();
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(here.events(LeaderSessionLost.class)).isEmpty();
        assertThat(rows()).isEmpty();
    }

    @Test
    void a_release_beside_a_writing_lets_it_commit_and_say_so_and_takes_no_interrupt_of_others() throws Exception {
        Future<Boolean> answer = threads.submit(() -> {
            boolean committed = leader.withLeaderSession(session -> {
                insert(session, 1);
                written.countDown();
                goesOn.await();
                Thread.currentThread().interrupt(); // somebody's
            });
            return committed && Thread.interrupted();
        });
        written.await();
        leader.release();
        assertThat(leader.leads()).isFalse();
        assertThat(locks()).as("it is still written under it").isOne();
        goesOn.countDown();

        assertThat(answer.get()).isTrue();
        assertThat(rows()).containsExactly(1);
        soon().until(() -> locks() == 0);
    }

    @Test
    @Tag("B16")
    void a_session_that_is_gone_is_noticed_in_time_also_while_something_is_written_over_it() throws Exception {
        assertThat(leader.tryAcquire()).isTrue();
        Future<Boolean> answer = threads.submit(() -> leader.withLeaderSession(session -> {
            written.countDown();
            goesOn.await();
        }));
        written.await();
        schema.count(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                        + " AND (classid::bigint << 32 | objid::bigint) = ?",
                leader.key());

        Awaitility.await().atMost(AdvisoryLeader.NOTICED_WITHIN.plusSeconds(1)).until(() -> !leader.leads());
        assertThatThrownBy(answer::get).as("it was interrupted").hasRootCauseInstanceOf(InterruptedException.class);
        soon().until(() -> here.events(LeaderSessionLost.class).size() == 1);
    }

    @Test
    void a_long_writing_over_a_session_that_is_there_costs_no_leadership() throws Exception {
        CountDownLatch looks = new CountDownLatch(4);
        AdvisoryLeader watched = here.rowlock().advisoryLeader("watched", () -> {
            looks.countDown(); // for the session, for the search of a pooler, and for each look beside the writing
            return schema.connect();
        });
        assertThat(watched.withLeaderSession(session -> {
                    insert(session, 1);
                    looks.await();
                    assertThat(watched.leads()).isTrue();
                }))
                .isTrue();
        assertThat(rows()).containsExactly(1);
    }

    @Test
    void where_no_look_can_be_had_in_time_the_leadership_is_lost_and_what_is_written_may_commit() throws Exception {
        AtomicBoolean full = new AtomicBoolean();
        AdvisoryLeader pooled = here.rowlock().advisoryLeader("pooled", () -> {
            if (full.get()) {
                throw new SQLException("the pool is exhausted", "08001");
            }
            return schema.connect();
        });
        assertThat(pooled.withLeaderSession(session -> {
                    insert(session, 1);
                    full.set(true);
                    assertThatThrownBy(goesOn::await).isInstanceOf(InterruptedException.class);
                    assertThat(pooled.leads()).isFalse();
                }))
                .isTrue();
        assertThat(rows()).containsExactly(1);
        soon().until(() -> here.events(LeaderSessionLost.class).size() == 1);
    }

    @Test
    @Tag("B16")
    void a_lost_answer_to_the_commit_is_told_as_what_it_is() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            AdvisoryLeader far = here.rowlock().advisoryLeader("far", proxy.dataSource(schema)::getConnection);
            assertThatThrownBy(() -> far.withLeaderSession(session -> {
                        insert(session, 1);
                        proxy.cutAfter("COMMIT");
                    }))
                    .isInstanceOf(CommitUnknownException.class)
                    .hasMessageContaining("may be there or not");
            assertThat(rows()).containsExactly(1);

            proxy.cutBefore("rowlock:wrote");
            assertThatThrownBy(() -> far.withLeaderSession(session -> insert(session, 2)))
                    .isInstanceOf(DatabaseException.class);
            assertThat(far.leads()).isFalse();
            assertThat(far.withLeaderSession(session -> insert(session, 3))).isTrue();
            assertThat(rows()).containsExactly(1, 3);
        }
    }

    @Test
    void a_stop_waits_for_what_is_written_and_then_interrupts_it() throws Exception {
        Future<Boolean> answer = threads.submit(() -> leader.withLeaderSession(session -> {
            insert(session, 1);
            written.countDown();
            goesOn.await();
        }));
        written.await();
        here.rowlock().leases().stop(Duration.ofMillis(1));
        assertThatThrownBy(answer::get).hasRootCauseInstanceOf(InterruptedException.class);
        assertThat(rows()).isEmpty();
        soon().until(() -> locks() == 0);
    }

    private static void insert(Connection connection, int n) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("INSERT INTO written VALUES (" + n + ")");
        }
    }

    private List<Integer> rows() throws SQLException {
        return schema.list(Integer.class, "SELECT n FROM written ORDER BY n");
    }

    private long locks() throws SQLException {
        return schema.count(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                        + " AND (classid::bigint << 32 | objid::bigint) = ?",
                leader.key());
    }
}
