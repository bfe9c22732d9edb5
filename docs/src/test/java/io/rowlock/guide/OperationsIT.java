package io.rowlock.guide;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.BlockedKey;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobCounts;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.job.JobTally;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationPage;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Retention;
import io.rowlock.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class OperationsIT {
    private static final Path PAGE = Path.of("guide/operations.md");
    private static final Duration LONG = Duration.ofSeconds(30);

    private final TestSchema schema;
    private final Rowlock rowlock;

    OperationsIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @Kind("mail")
    public record Mail(int no) {}

    @Kind("call")
    public record Call(int no) {}

    @BeforeEach
    void empty() throws Exception {
        schema.execute("TRUNCATE rowlock_job, rowlock_key, rowlock_operation");
    }

    @Test
    void looking() throws Exception {
        long id = write(new Mail(1), null);
        // tag::find
        JobPage page = rowlock.jobs()
                .find(JobQuery.all().kind("mail").state(JobState.DEAD).pageSize(50));
        page.jobs()
                .forEach(job ->
                        System.out.println(job.id() + ": " + job.progress().lastError()));
        page.next()
                .ifPresent(cursor -> rowlock.jobs()
                        .find(JobQuery.all().kind("mail").state(JobState.DEAD).after(cursor)));
        // end::find
        // tag::load
        for (JobCounts of : rowlock.jobs().load()) {
            System.out.printf(
                    "%s %s: %d due, behind by %s, %d dead%n",
                    of.queue(), of.kind(), of.lag().due(), of.lag().behind(), of.dead());
        }
        // end::load
        assertThat(rowlock.jobs().load()).hasSize(1);
        // tag::content
        By ann = new By("ann", "INC-12: the customer says it was never sent");
        rowlock.jobs().content(id, ann).ifPresent(content -> System.out.println(content.payload()));
        // end::content
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation WHERE what = 'read'"))
                .isEqualTo(1);
        // tag::operations
        OperationFilter tonight = OperationFilter.all().since(Instant.now().minus(ofHours(12)));
        OperationPage done = rowlock.operations().find(tonight.job(id), null, 100);
        done.operations()
                .forEach(each ->
                        System.out.println(each.at() + " " + each.who() + ": " + each.what() + ", " + each.why()));
        // end::operations
        assertThat(done.operations()).hasSize(1);
    }

    @Test
    void changing() throws Exception {
        long id = write(new Mail(1), null);
        // tag::one
        By ann = new By("ann", "INC-12: the mail server is back");
        JobAnswer answer = rowlock.jobs().reschedule(id, Instant.now().plusSeconds(60), ann);
        // end::one
        assertThat(answer).isEqualTo(JobAnswer.DONE);
        schema.execute("UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp()");
        // tag::many
        JobQuery since = JobQuery.all().kind("mail").finishedFrom(Instant.now().minus(ofDays(1)));
        JobTally tally = rowlock.jobs()
                .changeAll(
                        since.state(JobState.DEAD),
                        new JobChange.Revive(),
                        ann,
                        soFar -> System.out.println(soFar.done() + " revived"));
        // end::many
        assertThat(tally.done()).isEqualTo(1);
        // tag::redact
        JobRedaction redaction = rowlock.jobs().redact("Person:42", new By("ann", "request 12 of the person"));
        boolean again = redaction.unfinished() + redaction.locked() > 0;
        // end::redact
        assertThat(again).isFalse();
    }

    @Test
    void what_waits_behind_a_dead_job() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, ordering_key, state, finished_at)"
                + " VALUES ('mail', '{}', 'ada', 'dead', clock_timestamp());"
                + " INSERT INTO rowlock_key (queue, ordering_key, blocked_by)"
                + " SELECT queue, ordering_key, id FROM rowlock_job");
        By ann = new By("ann", "INC-12: that mail is not needed any more");
        // tag::blocked
        for (BlockedKey key : rowlock.queues().blocked(null, null, 100)) {
            System.out.println(key.waiting() + " jobs wait behind " + key.job() + ", dead since " + key.since());
            rowlock.jobs().skip(key.job(), ann); // or revive
        }
        // end::blocked
        assertThat(rowlock.queues().blocked(null, null, 100)).isEmpty();
    }

    @Test
    void keeping() {
        // tag::retention
        Worker worker = rowlock.worker(w -> w.retention(Retention.standard()
                        .completed(ofDays(7))
                        .dead(ofDays(90)) // without this, dead letters wait for a person
                        .operations(ofDays(3_650)))
                .handle(Mail.class, (mail, job) -> {}));
        // end::retention
        assertThat(worker.id()).isNotBlank();
    }

    @Test
    void allowing() throws Exception {
        Set<String> support = Set.of("ann");
        // tag::access
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .access(access -> switch (access.action()) {
                    case READ, REDACT -> support.contains(access.by().who());
                    case DELETE, MOVE -> !access.kind().startsWith("payment-");
                    case PAUSE, RESUME, LIMIT ->
                        access.target() != AccessPolicy.Target.QUEUE
                                || !access.queue().equals("payments");
                    default -> true;
                })
                .build();
        // end::access
        AccessPolicy.Action[] all = AccessPolicy.Action.values();
        assertThat(all).hasSize(20);
        long id = write(new Mail(1), null);
        assertThat(rowlock.jobs().content(id, new By("ann", "x"))).isPresent();
    }

    /** What the rows really do, written down by a trigger, against what the page draws. */
    @Test
    void the_page_draws_the_ways_that_a_job_goes_and_no_others() throws Exception {
        schema.execute(
                "CREATE TABLE went (way text);"
                        + "CREATE FUNCTION went() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE a text := '[*]'; b text := '[*]'; BEGIN"
                        + " IF TG_OP <> 'INSERT' THEN a := CASE WHEN old.locked_by IS NULL THEN old.state ELSE 'leased' END; END IF;"
                        + " IF TG_OP <> 'DELETE' THEN b := CASE WHEN new.locked_by IS NULL THEN new.state ELSE 'leased' END; END IF;"
                        + " IF a <> b THEN INSERT INTO went VALUES (a || ' --> ' || b); END IF; RETURN NULL; END $$;"
                        + "CREATE TRIGGER went AFTER INSERT OR UPDATE OR DELETE ON rowlock_job FOR EACH ROW EXECUTE FUNCTION went()");
        try {
            goAllWays();
            assertThat(schema.list(String.class, "SELECT DISTINCT way FROM went"))
                    .containsExactlyInAnyOrderElementsOf(drawn());
        } finally {
            schema.execute("DROP TRIGGER went ON rowlock_job; DROP FUNCTION went(); DROP TABLE went");
        }
    }

    private static Set<String> drawn() throws Exception {
        Set<String> drawn = new TreeSet<>();
        Matcher arrow =
                Pattern.compile("^ *(\\S+ --> [^\\s:]+)", Pattern.MULTILINE).matcher(Files.readString(PAGE));
        while (arrow.find()) {
            drawn.add(arrow.group(1));
        }
        return drawn;
    }

    private void goAllWays() throws Exception {
        By ann = new By("ann", "for the picture");
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        long cancelled = write(new Mail(0), null);
        rowlock.jobs().cancel(cancelled, ann);
        rowlock.jobs().revive(cancelled, ann);
        rowlock.jobs().cancel(cancelled, ann);
        rowlock.jobs().delete(cancelled, ann);
        try (Worker worker = rowlock.worker(w -> w.poll(Duration.ofMillis(20))
                .queue("default", 4)
                .handle(Call.class, (call, job) -> (call.no() == 1 ? first : second).await())
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            if (mail.no() == 3) {
                                throw new IllegalStateException("once, then dead");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(1)).maxAttempts(2))))) {
            worker.start();
            for (int i = 0; i < 100; i++) { // mails are quick, so several of a key are taken in one run
                write(new Mail(i + 10), null);
            }
            awaitCount("kind = 'mail' AND state = 'completed'", 100);
            long head = write(new Call(1), "a"); // leased
            awaitCount("locked_by IS NOT NULL", 1);
            for (int i = 0; i < 3; i++) {
                write(new Mail(4), "a");
            }
            long last = write(new Mail(4), "a");
            awaitCount("state = 'parked'", 4);
            rowlock.jobs().cancel(last, ann); // parked to cancelled
            first.countDown(); // the first follower is promoted, the others taken with it
            awaitCount("ordering_key = 'a' AND state = 'completed'", 4);
            rowlock.jobs().delete(head, ann);

            long dead;
            try (Connection connection = schema.begin()) { // one run: the first fails, the second goes back
                dead = rowlock.outbox()
                        .enqueue(connection, new Mail(3), job -> job.orderingKey("b"))
                        .id();
                rowlock.outbox().enqueue(connection, new Mail(4), job -> job.orderingKey("b"));
                connection.commit();
            }
            awaitCount("id = " + dead + " AND state = 'dead'", 1);
            rowlock.jobs().revive(dead, ann);
            awaitCount("id = " + dead + " AND state = 'dead'", 1);
            rowlock.jobs().delete(dead, ann);

            long running = write(new Call(2), null);
            awaitCount("id = " + running + " AND locked_by IS NOT NULL", 1);
            rowlock.jobs().cancel(running, ann);
        }
        try (Worker worker = rowlock.worker(w ->
                w.poll(Duration.ofMillis(20)).keepCompleted(Duration.ZERO).handle(Mail.class, (mail, job) -> {}))) {
            long gone = write(new Mail(5), null);
            worker.start();
            awaitCount("id = " + gone, 0);
        }
    }

    private void awaitCount(String where, long count) {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE " + where) == count);
    }

    private long write(Object mail, String key) throws Exception {
        try (Connection connection = schema.begin()) {
            long id = rowlock.outbox()
                    .enqueue(connection, mail, job -> {
                        if (key != null) {
                            job.orderingKey(key);
                        }
                    })
                    .id();
            connection.commit();
            return id;
        }
    }
}
