package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

@PostgresTest
class JobsIT {
    private final TestSchema schema;
    private final Rowlock rowlock;

    JobsIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    // tag::kind
    @Kind(value = "reminder", aliases = "order-reminder")
    public record Reminder(long order) {}

    // end::kind

    /** A type that could not be annotated. */
    public record ImportRow(int line) {}

    @Test
    void jobs_by_hand() throws SQLException {
        // tag::enqueue
        try (Connection connection = schema.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            // ... your own rows ...
            rowlock.outbox()
                    .enqueue(
                            connection,
                            new Reminder(42),
                            job -> job.after(ofMinutes(5))
                                    .queue("reminders")
                                    .priority(Priority.LOW)
                                    .subject("Order:42")
                                    .header("tenant", "acme")
                                    .maxAttempts(5));
            connection.commit();
        }
        // end::enqueue
        assertThat(rowlock.jobs()).hasOneAbout("Order:42").isWaiting();
    }

    @Test
    void many_jobs() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        try (Connection connection = schema.begin()) {
            // tag::many
            var jobs = rowlock.outbox()
                    .enqueueAll(
                            connection,
                            List.of(
                                    JobRequest.of(new Reminder(1)),
                                    JobRequest.of(new Reminder(2), job -> job.after(ofMinutes(1)))));
            connection.commit();
            rowlock.wake(jobs); // optional: workers of this JVM look at once instead of at their next poll
            // end::many
        }
        assertThat(rowlock.jobs()).hasCount("reminder", 2);
    }

    @Test
    void headers_of_the_application() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        Tenants.current = "acme";
        // tag::headers
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .headers(() -> Map.of("tenant", Tenants.current(), "actor", "ada"))
                .build();
        // end::headers
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Reminder(42), job -> job.subject("Order:43"));
            connection.commit();
        }
        assertThat(rowlock.jobs()).hasOneAbout("Order:43").isWaiting();
        Assertions.assertThat(rowlock.jobs()
                        .content(rowlock.jobs().ofSubject("Order:43").get(0).id(), new By("test", "to look at it"))
                        .orElseThrow()
                        .headers())
                .isEqualTo(Map.of("tenant", "acme", "actor", "ada"));
    }

    /** What an application knows of the request it works on. */
    private static final class Tenants {
        private static String current = "";

        private static String current() {
            return current;
        }
    }

    @Test
    void a_high_job() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        try (Connection connection = schema.begin()) {
            // tag::priority
            rowlock.outbox().enqueue(connection, new Reminder(42), job -> job.priority(Priority.HIGH));
            // end::priority
            connection.commit();
        }
        Assertions.assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE priority = 0"))
                .isEqualTo(1);
    }

    @Test
    void a_job_that_waits_already() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        try (Connection connection = schema.begin()) {
            // tag::dedup
            Enqueued first = rowlock.outbox().enqueue(connection, new Reminder(42), job -> job.dedupKey("Order:42"));
            Enqueued again = rowlock.outbox()
                    .enqueue(connection, new Reminder(42), job -> job.dedupKey("Order:42", DedupMode.REPLACE));

            boolean waitsAlready = again.duplicate(); // an answer, no error: the transaction goes on
            // end::dedup
            Assertions.assertThat(waitsAlready).isTrue();
            Assertions.assertThat(again.id()).isEqualTo(first.id());
            connection.commit();
        }
        assertThat(rowlock.jobs()).hasCount("reminder", 1);
    }

    @Test
    void a_job_written_in_sql() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
        schema.execute("CREATE TABLE orders (id bigint PRIMARY KEY)");
        // tag::sql
        schema.execute("""
                CREATE FUNCTION order_placed() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                  PERFORM rowlock_enqueue('reminder', json_build_object('order', NEW.id),
                                          delay => interval '5 minutes', dedup_key => 'Order:' || NEW.id);
                  RETURN NULL;
                END $$;
                CREATE TRIGGER placed AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION order_placed();
                """);
        // end::sql
        schema.execute("INSERT INTO orders VALUES (7)");
        assertThat(rowlock.jobs()).hasOne("reminder").isWaiting();
    }

    @Test
    void a_kind_by_hand() throws SQLException {
        try (Connection connection = schema.begin()) {
            // tag::kind-by-hand
            JobKind<ImportRow> kind = JobKind.named("import-row", ImportRow.class);
            rowlock.outbox().enqueue(connection, kind, new ImportRow(7), job -> {});
            // end::kind-by-hand
            connection.commit();
        }
        assertThat(rowlock.jobs()).hasOne("import-row").hasPayload("{\"line\":7}");
    }

    @Test
    void what_is_refused_leaves_the_transaction_usable() throws SQLException {
        try (Connection connection = schema.begin()) {
            // tag::refused
            assertThatThrownBy(() -> rowlock.outbox().enqueue(connection, "no kind"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("@Kind");
            connection.createStatement().execute("SELECT 1"); // nothing was sent: the transaction goes on
            // end::refused
        }
    }
}
