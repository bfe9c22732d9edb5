package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.jpa.JpaTransactions;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.WorkerConfig;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class HandlersIT {
    @Kind("notify-partner")
    public record NotifyPartner(long order) {}

    @Kind("payment-received")
    public record PaymentReceived(long account, long cents) {}

    @Entity(name = "account")
    public static class Account {
        @Id
        private long id;

        private long cents;

        protected Account() {}

        void add(long more) {
            cents += more;
        }
    }

    private final TestSchema schema;
    private final Rowlock rowlock;
    private final Partner partner = new Partner();

    HandlersIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @BeforeEach
    void tables() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        schema.execute("CREATE TABLE IF NOT EXISTS account (id bigint PRIMARY KEY, cents bigint NOT NULL)");
        schema.execute("DELETE FROM account");
        schema.execute("INSERT INTO account VALUES (1, 0)");
    }

    @Test
    void a_leased_handler_says_what_should_become_of_the_job() throws SQLException {
        enqueue(new NotifyPartner(42));
        try (HandCrankedWorker worker = worker(
                w ->
                        // tag::leased
                        w.handle(
                                NotifyPartner.class,
                                (notice, job) -> {
                                    Answer answer = partner.notify(notice.order(), job.idempotencyKey());
                                    switch (answer.status()) {
                                        case 200 -> {} // returning completes the job
                                        case 404 -> throw new Snooze(ofMinutes(10)); // not yet: no attempt is used
                                        case 429 -> throw new RetryAfter(answer.retryAfter(), "partner is busy");
                                        case 422 -> throw new PermanentFailure("partner refuses the order");
                                        default -> throw new IllegalStateException("partner said " + answer.status());
                                    }
                                },
                                h -> h.retry(RetryPolicy.exponential(ofSeconds(30))
                                                .max(ofMinutes(30))
                                                .maxAttempts(50)
                                                .neverOn(IllegalArgumentException.class))
                                        .timeout(ofMinutes(2))
                                        .concurrency(8))
                // end::leased
                )) {
            partner.next = new Answer(404, Duration.ZERO);
            worker.drain();
            assertThat(rowlock.jobs()).hasOne(NotifyPartner.class).isWaiting().hasAttempts(0);
            partner.next = new Answer(429, ofMillis(1));
            worker.bringForward();
            worker.runNext();
            assertThat(rowlock.jobs())
                    .hasOne(NotifyPartner.class)
                    .lastFailedWith("busy")
                    .hasAttempts(1);
            partner.next = new Answer(422, Duration.ZERO);
            worker.bringForward();
            worker.runNext();
            assertThat(rowlock.jobs()).hasOne(NotifyPartner.class).isDead("refuses");
        }
    }

    @Test
    void a_transactional_handler_writes_and_completes_together() throws SQLException {
        enqueue(new PaymentReceived(1, 250));
        try (HandCrankedWorker worker = worker(
                w ->
                        // tag::transactional
                        w.handleTransactionally(PaymentReceived.class, (payment, job, connection) -> {
                            try (PreparedStatement add =
                                    connection.prepareStatement("UPDATE account SET cents = cents + ? WHERE id = ?")) {
                                add.setLong(1, payment.cents());
                                add.setLong(2, payment.account());
                                add.executeUpdate();
                            }
                        })
                // end::transactional
                )) {
            worker.drain();
        }
        assertThat(schema.count("SELECT cents FROM account")).isEqualTo(250);
    }

    @Test
    void an_entity_manager_completes_the_job_too() throws SQLException {
        enqueue(new PaymentReceived(1, 250));
        try (EntityManagerFactory emf = Units.start(schema, Account.class);
                HandCrankedWorker worker = worker(
                        w ->
                                // tag::jpa
                                w.handleTransactionally(
                                        PaymentReceived.class,
                                        JpaTransactions.of(emf),
                                        (payment, job, em) -> em.find(Account.class, payment.account())
                                                .add(payment.cents()))
                        // end::jpa
                        )) {
            worker.drain();
        }
        assertThat(schema.count("SELECT cents FROM account")).isEqualTo(250);
    }

    @Test
    void a_leased_handler_may_complete_in_a_short_transaction_of_its_own() throws SQLException {
        enqueue(new NotifyPartner(42));
        try (HandCrankedWorker worker = worker(
                w ->
                        // tag::complete-in
                        w.handle(NotifyPartner.class, (notice, job) -> {
                            Answer answer =
                                    partner.notify(notice.order(), job.idempotencyKey()); // no transaction is open
                            try (Connection connection = schema.begin()) {
                                store(connection, answer);
                                job.completeIn(connection); // committed with your rows, or not at all
                                connection.commit();
                            }
                        })
                // end::complete-in
                )) {
            worker.drain();
        }
        assertThat(rowlock.jobs()).hasOne(NotifyPartner.class).isCompleted();
        assertThat(schema.count("SELECT cents FROM account")).isEqualTo(200);
    }

    private static void store(Connection connection, Answer answer) throws SQLException {
        try (PreparedStatement set = connection.prepareStatement("UPDATE account SET cents = ?")) {
            set.setLong(1, answer.status());
            set.executeUpdate();
        }
    }

    private void enqueue(Object payload) throws SQLException {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, payload);
            connection.commit();
        }
    }

    private HandCrankedWorker worker(Consumer<WorkerConfig> config) {
        return rowlock.handCrankedWorker(config);
    }

    private record Answer(int status, Duration retryAfter) {}

    /** Stands for a partner's HTTP endpoint. */
    private static final class Partner {
        private Answer next = new Answer(200, Duration.ZERO);

        Answer notify(long order, String idempotencyKey) {
            assertThat(idempotencyKey).isNotBlank();
            assertThat(order).isEqualTo(42);
            return next;
        }
    }
}
