package io.rowlock.idempotency;

import static io.rowlock.idempotency.Desk.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.event.RowlockEvent.RequestRefused;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.idempotency.Answer.Source;
import io.rowlock.idempotency.Desk.Receipt;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests with one key at the same time, and processes that die with one. */
@PostgresTest
@Tag("B10")
@Timeout(180)
final class ConcurrentRequestsIT {
    private static final IdempotencyOptions PATIENT =
            IdempotencyOptions.standard().waiting(Duration.ofMinutes(1));
    private static final IdempotencyOptions AT_ONCE =
            IdempotencyOptions.standard().waiting(Duration.ZERO);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private TestSchema schema;
    private TestRowlock rowlock;
    private Desk desk;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        desk = Desk.of(rowlock);
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void of_many_identical_requests_one_is_done_and_all_get_its_answer() throws Exception {
        Desk patient = desk.with(PATIENT);
        List<Future<Answer<Receipt>>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(threads.submit(() -> patient.order(post("k", "{}"))));
        }

        List<Answer<Receipt>> answers = new ArrayList<>();
        for (Future<Answer<Receipt>> each : all) {
            answers.add(each.get());
        }

        assertThat(desk.orders()).isOne();
        assertThat(desk.rows()).isOne();
        assertThat(answers).extracting(Answer::value).containsOnly(new Receipt(201, 1));
        assertThat(answers)
                .filteredOn(answer -> answer.source() == Source.EXECUTED)
                .hasSize(1);
        assertThat(answers).filteredOn(Answer::replayed).hasSize(19);
    }

    @Test
    void one_that_meets_another_at_work_is_told_so_and_its_transaction_goes_on() throws Exception {
        try (Connection first = schema.begin();
                Connection second = schema.begin()) {
            Answer<Receipt> answer = desk.order(first, post("k", "{}"));

            assertRefused(second, Reason.IN_PROGRESS);
            second.createStatement().execute("INSERT INTO ordered (what) VALUES ('something else')");
            second.commit();
            first.commit();

            assertThat(desk.order(second, post("k", "{}"))).isEqualTo(new Answer<>(answer.value(), Source.REPLAYED));
        }
        assertThat(rowlock.events(RequestRefused.class))
                .containsExactly(new RequestRefused("POST", "/orders", Reason.IN_PROGRESS));
        assertThat(desk.orders()).isEqualTo(2);
    }

    @Test
    void one_that_waits_is_done_itself_when_the_other_rolls_back() throws Exception {
        Future<Answer<Receipt>> waiting;
        try (Connection first = schema.begin()) {
            desk.order(first, post("k", "{}"));
            waiting = threads.submit(() -> desk.with(PATIENT).order(post("k", "{}")));
            awaitAsked();
            first.rollback();
        }

        assertThat(waiting.get().source()).isEqualTo(Source.EXECUTED);
        assertThat(desk.orders()).isOne();
    }

    @Test
    void an_interrupt_ends_the_waiting() throws Exception {
        try (Connection first = schema.begin()) {
            desk.order(first, post("k", "{}"));
            AtomicInteger interrupted = new AtomicInteger();
            Future<?> waiting = threads.submit(() -> {
                try {
                    desk.with(PATIENT).order(post("k", "{}"));
                } catch (IdempotencyRefusedException e) {
                    interrupted.set(Thread.currentThread().isInterrupted() ? 1 : -1);
                }
                return null;
            });
            awaitAsked();
            threads.shutdownNow();

            waiting.get();
            assertThat(interrupted).hasValue(1);
        }
    }

    /** The first holds the key and waits for a row of the second, which asks for the key: no cycle inside the server. */
    @Test
    void it_makes_no_deadlock_with_other_locks_of_its_callers() throws Exception {
        desk.order(post("other", "{}"));
        try (Connection first = schema.begin();
                Connection second = schema.begin()) {
            second.createStatement().execute("UPDATE ordered SET what = 'second'");
            IdempotencyKeys keys = rowlock.rowlock().idempotencyKeys();
            Future<Answer<Receipt>> crossing =
                    threads.submit(() -> keys.execute(first, post("k", "{}"), Receipt.class, () -> {
                        first.createStatement().execute("UPDATE ordered SET what = 'first'");
                        return Outcome.stored(new Receipt(200, 1));
                    }));
            TestRowlock.soon()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND wait_event_type = 'Lock'",
                                    schema.name())
                            == 1);

            assertRefused(second, Reason.IN_PROGRESS);
            second.rollback();

            assertThat(crossing.get().source()).isEqualTo(Source.EXECUTED);
            first.commit();
        }
    }

    /** Where it is killed: at work, with its answer stored but not committed, and after the commit. */
    @ParameterizedTest
    @ValueSource(strings = {"working", "stored", "committed"})
    @Tag("B20")
    void a_process_that_dies_leaves_no_key_behind_unless_it_has_committed(String stage) throws Exception {
        try (ChildJvm child = ChildJvm.start(
                DyingDesk.class,
                jvm -> jvm.sharing(schema.server())
                        .arguments(schema.name(), stage)
                        .jvmArguments("-Xmx64m"))) {
            child.awaitLine("reached " + stage, Duration.ofSeconds(60));
            child.kill();
        }

        Answer<Receipt> again = desk.with(PATIENT).order(post("k", "{}"));

        assertThat(again.replayed()).isEqualTo(stage.equals("committed"));
        assertThat(desk.orders()).isOne();
        assertThat(desk.rows()).isOne();
    }

    /** In a JVM of its own: takes an order, says where it stands, and waits to be killed. */
    static final class DyingDesk {
        private DyingDesk() {}

        public static void main(String[] arguments) throws Exception {
            TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
            TestRowlock rowlock = TestRowlock.beside(schema);
            IdempotentRequest request = post("k", "{}");
            try (Connection connection = schema.begin()) {
                rowlock.rowlock().idempotencyKeys().execute(connection, request, Receipt.class, () -> {
                    Receipt receipt = Desk.write(connection, request);
                    reached("working", arguments[1]);
                    return Outcome.stored(receipt);
                });
                reached("stored", arguments[1]);
                connection.commit();
                reached("committed", arguments[1]);
            }
        }

        private static void reached(String here, String stage) throws Exception {
            if (here.equals(stage)) {
                System.out.println("reached " + here);
                System.in.read();
            }
        }
    }

    private void assertRefused(Connection connection, Reason reason) {
        assertThatThrownBy(() -> desk.with(AT_ONCE).order(connection, post("k", "{}")))
                .isInstanceOfSatisfying(
                        IdempotencyRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(reason));
    }

    /** Until somebody who waits has asked for the lock more than once. */
    private void awaitAsked() {
        TestRowlock.soon()
                .until(() -> schema.count(
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ? AND query LIKE '%idempotency-lock%'",
                                schema.name())
                        > 0);
    }
}
