package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A handler's EntityManager, and the completion of its job, in one transaction. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P4")
final class JpaTransactionsIT {
    @Kind("book")
    record Book(int id, boolean fails) {}

    @Kind("booked")
    record Booked(int id) {}

    @Entity(name = "Booking")
    @Table(name = "booking")
    static class Booking {
        @Id
        int id;

        @OutboxJob(on = Change.PERSIST)
        Booked booked() {
            return new Booked(id);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private Rowlock rowlock;

    JpaTransactionsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Booking.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .build();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM booking; DELETE FROM rowlock_job; DELETE FROM rowlock_alert");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private static void book(EntityManager em, int id) {
        Booking booking = new Booking();
        booking.id = id;
        em.persist(booking);
    }

    /** Notes the steps and the transaction of each, and fails where told to. */
    private static final class NotedWork implements TransactionRunner.Work<EntityManager> {
        private final List<String> steps = new ArrayList<>();
        private final List<String> transactions = new ArrayList<>();
        private final String failing;

        NotedWork(String failing) {
            this.failing = failing;
        }

        @Override
        public void begun(Connection connection) throws Exception {
            step("begun", connection);
        }

        @Override
        public void handle(EntityManager em) throws Exception {
            steps.add("handle");
            book(em, 1);
            failIf("handle");
            if (failing.equals("end early")) {
                em.getTransaction().rollback();
            } else if (failing.equals("mark")) {
                em.getTransaction().setRollbackOnly();
            }
        }

        @Override
        public void completing(Connection connection) throws Exception {
            assertThat(value(connection, "SELECT count(*) FROM booking"))
                    .as("flushed before")
                    .isEqualTo("1");
            step("completing", connection);
        }

        private void step(String name, Connection connection) throws Exception {
            steps.add(name);
            transactions.add(value(connection, "SELECT pg_current_xact_id()::text"));
            assertThat(value(connection, "SHOW transaction_isolation")).isEqualTo("read committed");
            failIf(name);
        }

        private void failIf(String name) throws Exception {
            if (name.equals(failing)) {
                throw new InterruptedException("stop at " + name);
            }
        }

        private static String value(Connection connection, String sql) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getString(1);
            }
        }
    }

    @Test
    void steps_run_in_order_in_one_read_committed_transaction_that_commits() throws Exception {
        NotedWork work = new NotedWork("");
        try (TestUnit strict = TestUnit.on(schema, Booking.class).with("hibernate.connection.isolation", "8")) {
            JpaTransactions.of(strict.factory()).run(work);
        }
        assertThat(work.steps).containsExactly("begun", "handle", "completing");
        assertThat(work.transactions.get(0)).isEqualTo(work.transactions.get(1));
        assertThat(schema.count("SELECT count(*) FROM booking")).isEqualTo(1);
        assertThat(unit.jobs()).containsExactly("booked {\"id\":1}");
    }

    @Test
    void throwable_of_any_step_rolls_back_and_goes_up_as_it_is() throws Exception {
        for (String step : List.of("begun", "handle", "completing")) {
            assertThatThrownBy(() -> JpaTransactions.of(unit.factory()).run(new NotedWork(step)))
                    .isInstanceOf(InterruptedException.class)
                    .hasMessage("stop at " + step);
        }
        assertThat(schema.count("SELECT count(*) FROM booking")).isZero();
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    void handler_that_ends_or_marks_the_transaction_fails_and_leaves_nothing() throws Exception {
        assertThatThrownBy(() -> JpaTransactions.of(unit.factory()).run(new NotedWork("end early")))
                .isInstanceOf(PermanentFailure.class)
                .hasMessageContaining("ended the transaction");
        assertThatThrownBy(() -> JpaTransactions.of(unit.factory()).run(new NotedWork("mark")))
                .isInstanceOf(RowlockException.class)
                .hasMessageContaining("rollback only");
        assertThat(schema.count("SELECT count(*) FROM booking")).isZero();
    }

    @Test
    void nothing_in_place_of_a_unit_is_refused_clearly() {
        assertThatThrownBy(() -> JpaTransactions.of(null))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("must not be null");
    }

    @Kind("booked")
    record AlsoBooked(int number) {}

    @Test
    void handler_that_takes_an_entitys_kind_for_another_payload_type_is_refused_at_start_up() {
        assertThatThrownBy(() -> rowlock.worker(w -> w.handle(AlsoBooked.class, (booked, job) -> {})))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("booked stands for two payload types");
    }

    @Test
    void worker_commits_what_the_handler_wrote_together_with_the_completion_or_neither() throws Exception {
        try (Worker worker = rowlock.worker(w -> w.queue("default", 2)
                .poll(Duration.ofMillis(200))
                .handleTransactionally(
                        JobKind.of(Book.class),
                        JpaTransactions.of(unit.factory()),
                        (book, job, em) -> {
                            book(em, book.id());
                            em.flush();
                            if (book.fails()) {
                                throw new PermanentFailure("fully booked");
                            }
                        },
                        handler -> {}))) {
            try (Connection connection = schema.begin()) {
                rowlock.outbox().enqueue(connection, new Book(1, false));
                rowlock.outbox().enqueue(connection, new Book(2, true));
                connection.commit();
            }
            worker.start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(schema.list(
                                    String.class, "SELECT state FROM rowlock_job WHERE kind = 'book' ORDER BY id"))
                            .isIn(List.of("completed", "dead"), List.of("dead")));
        }
        assertThat(schema.list(Integer.class, "SELECT id FROM booking")).containsExactly(1);
        assertThat(schema.list(String.class, "SELECT payload::text FROM rowlock_job WHERE kind = 'booked'"))
                .containsExactly("{\"id\":1}");
    }

    @Test
    void job_whose_handler_commits_by_itself_is_dead_at_once_so_that_the_effect_is_not_repeated() throws Exception {
        List<Consumer<EntityManager>> endings = List.of(
                em -> em.getTransaction().commit(),
                em -> {
                    em.getTransaction().commit();
                    em.getTransaction().begin();
                },
                em -> {
                    em.getTransaction().commit();
                    throw new IllegalStateException("after the commit");
                });
        try (Worker worker = rowlock.worker(w -> w.poll(Duration.ofMillis(20))
                .handleTransactionally(
                        JobKind.of(Book.class),
                        JpaTransactions.of(unit.factory()),
                        (book, job, em) -> {
                            book(em, book.id() + 10 * job.attempt());
                            endings.get(book.id() - 1).accept(em);
                        },
                        handler -> handler.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            try (Connection connection = schema.begin()) {
                for (int id = 1; id <= endings.size(); id++) {
                    rowlock.outbox().enqueue(connection, new Book(id, false));
                }
                connection.commit();
            }
            worker.start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(schema.list(
                                    String.class, "SELECT state FROM rowlock_job WHERE kind = 'book' ORDER BY id"))
                            .containsExactly("dead", "dead", "dead"));
        }
        assertThat(schema.list(Integer.class, "SELECT id FROM booking ORDER BY id"))
                .containsExactly(11, 12, 13);
        assertThat(schema.list(String.class, "SELECT last_error FROM rowlock_job WHERE kind = 'book'"))
                .allMatch(error -> error.contains("The handler ended the transaction that also completes the job"));
    }

    @Test
    void commit_of_an_entity_starts_its_handler_long_before_the_poll() {
        List<Integer> handled = new CopyOnWriteArrayList<>();
        try (Worker worker = rowlock.worker(w -> w.queue("default", 1)
                .poll(Duration.ofSeconds(60))
                .handle(Booked.class, (booked, job) -> handled.add(booked.id())))) {
            worker.start();
            await().atMost(Duration.ofSeconds(10)).until(() -> worker.health().sinceClaim() != null);
            unit.commit(em -> book(em, 7));
            await().atMost(Duration.ofSeconds(10)).until(() -> handled.equals(List.of(7)));
        }
    }
}
