package io.rowlock.checkup;

import static io.rowlock.checkup.Checked.codes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.rowlock.job.By;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.worker.Worker;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a checkup says about jobs that wait for a handler, a worker or a person. */
final class WaitingCheckupIT {
    private static final By ADA = new By("ada", "test");

    private Checked checked;

    @BeforeEach
    void install() throws Exception {
        checked = new Checked(TestPostgres.shared());
    }

    @AfterEach
    void drop() throws Exception {
        checked.close();
    }

    @Test
    @Tag("P12")
    void a_kind_without_a_handler_here_is_a_remark_and_a_warning_once_it_is_late() throws Exception {
        job("order-confirmaton", "default", "clock_timestamp()");
        Set<String> kinds = Set.of("order-confirmation");

        assertThat(checked.beside(kinds, Set.of("default")))
                .filteredOn(each -> each.code().equals("kind-without-handler"))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.severity()).isEqualTo(Severity.REMARK);
                    assertThat(each.remedy()).startsWith("Is 'order-confirmation' meant");
                });
        checked.schema.execute("UPDATE rowlock_job SET run_at = run_at - interval '1 hour'");

        List<Finding> late = checked.beside(kinds, Set.of("default"));

        assertThat(late)
                .filteredOn(each -> each.code().equals("kind-late-without-handler"))
                .extracting(Finding::severity)
                .containsExactly(Severity.WARNING);
        assertThat(late)
                .filteredOn(each -> each.code().equals("handler-without-jobs"))
                .singleElement()
                .satisfies(each -> assertThat(each.seen()).contains("order-confirmation"));
    }

    @Test
    void a_queue_that_no_worker_here_serves_is_named() throws Exception {
        job("mail", "reports", "clock_timestamp() + interval '1 day'");
        assertThat(codes(checked.beside(Set.of("mail"), Set.of("default")))).contains("queue-without-worker");

        checked.schema.execute("UPDATE rowlock_job SET run_at = run_at - interval '2 days'");
        assertThat(codes(checked.beside(Set.of("mail"), Set.of("default")))).contains("queue-late-without-worker");
        assertThat(codes(checked.beside(Set.of("mail"), Set.of("reports"))))
                .contains("jobs-late")
                .doesNotContain("queue-late-without-worker");
    }

    @Test
    void late_jobs_are_named_whatever_sort_they_are_unless_somebody_works_on_them_or_the_queue_is_paused()
            throws Exception {
        String hourAgo = "clock_timestamp() - interval '1 hour'";
        job("plain", "default", hourAgo);
        job("suspect", "default", hourAgo);
        checked.schema.execute("UPDATE rowlock_job SET losses = 1 WHERE kind = 'suspect'");
        job("keyed", "default", hourAgo);
        checked.schema.execute("UPDATE rowlock_job SET ordering_key = 'k' WHERE kind = 'keyed'");
        job("busy", "default", hourAgo);
        checked.schema.execute(
                "UPDATE rowlock_job SET locked_by = 'w', locked_until = clock_timestamp() WHERE kind = 'busy'");
        job("plain", "resting", hourAgo);
        checked.rowlock.queues().pause("resting", ADA);
        checked.rowlock.queues().pause("idle", ADA);

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("jobs-late"))
                .extracting(each -> each.seen().replaceAll(", .*", ""))
                .containsExactly(
                        "Jobs of kind 'keyed' in queue 'default' wait",
                        "Jobs of kind 'plain' in queue 'default' wait",
                        "Jobs of kind 'suspect' in queue 'default' wait");
        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("queue-paused"))
                .singleElement()
                .satisfies(each -> assertThat(each.seen()).contains("'idle'", "ada", "no job waits"));
        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("queue-paused-with-jobs"))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.severity()).isEqualTo(Severity.WARNING);
                    assertThat(each.seen()).contains("'resting'", "by ada (test)", "1 job waits in it");
                    assertThat(each.remedy()).contains(" queues resume resting --why 'its time has come'");
                });
    }

    @Test
    @Tag("P14")
    void jobs_in_a_paused_queue_are_counted_whatever_sort_they_are_and_not_without_end() throws Exception {
        job("plain", "it''s", "clock_timestamp()");
        job("parked", "it''s", "clock_timestamp()");
        checked.schema.execute("UPDATE rowlock_job SET state = 'parked', ordering_key = 'k' WHERE kind = 'parked'");
        job("keyed", "it''s", "clock_timestamp()");
        checked.schema.execute("UPDATE rowlock_job SET ordering_key = 'k' WHERE kind = 'keyed'");
        job("dead", "it''s", "clock_timestamp()");
        checked.schema.execute(
                "UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp() WHERE kind = 'dead'");
        checked.rowlock.queues().pause("it's", ADA);
        checked.rowlock.queues().resume("it's", ADA);
        checked.rowlock.queues().pause("it's", new By("bob", "again"));

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("queue-paused-with-jobs"))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.seen()).contains("by bob (again); 3 jobs wait in it");
                    assertThat(each.remedy()).contains(" queues resume 'it'\\''s' --why");
                });
        checked.schema.execute("INSERT INTO rowlock_job (kind, queue, payload)"
                + " SELECT 'plain', 'it''s', '{}' FROM generate_series(1, 2000)");
        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("queue-paused-with-jobs"))
                .singleElement()
                .satisfies(each -> assertThat(each.seen()).contains("at least 1000 jobs wait in it"));
    }

    @Test
    @Tag("P11")
    void dead_letters_and_the_keys_they_block_are_named() throws Exception {
        job("mail", "default", "clock_timestamp()");
        checked.schema.execute(
                "UPDATE rowlock_job SET state = 'dead', finished_at = clock_timestamp(), ordering_key = 'Order:42'");
        checked.schema.execute("INSERT INTO rowlock_key (queue, ordering_key, blocked_by)"
                + " SELECT queue, ordering_key, id FROM rowlock_job");

        assertThat(checked.findings())
                .filteredOn(each -> each.code().startsWith("dead-"))
                .extracting(Finding::code, Finding::severity)
                .containsExactly(tuple("dead-heads", Severity.WARNING), tuple("dead-letters", Severity.REMARK));
    }

    @Test
    void the_workers_of_this_rowlock_say_which_kinds_are_handled() throws Exception {
        job("mail", "default", "clock_timestamp()");
        job("sms", "default", "clock_timestamp()");
        assertThat(codes(checked.findings())).doesNotContain("kind-without-handler");

        Worker worker = checked.rowlock.worker(
                w -> w.queue("default", 1).handle(new JobKind<>("mail", String.class, List.of()), (text, job) -> {}));

        assertThat(checked.findings())
                .filteredOn(each -> each.code().equals("kind-without-handler"))
                .singleElement()
                .satisfies(each -> assertThat(each.seen()).contains("'sms'"));
        worker.close();
        assertThat(codes(checked.findings())).doesNotContain("kind-without-handler");
    }

    private void job(String kind, String queue, String runAt) throws Exception {
        checked.schema.execute("INSERT INTO rowlock_job (kind, queue, payload, run_at) VALUES ('" + kind + "', '"
                + queue + "', '{}', " + runAt + ")");
    }
}
