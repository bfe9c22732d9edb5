package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each command on a real PostgreSQL: what it prints, what it changes, how it ends. */
final class CommandsIT {
    private TestSchema schema;
    private Rowlock rowlock;
    private Terminal terminal;

    @BeforeEach
    void install() throws Exception {
        schema = TestSchema.create(TestPostgres.shared(), "cli");
        terminal = new Terminal(schema);
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @AfterEach
    void drop() throws Exception {
        schema.close();
    }

    private long job(String state) throws Exception {
        String finished = state.equals("ready") ? "NULL" : "clock_timestamp()";
        return schema.count(
                "INSERT INTO rowlock_job (kind, payload, subject, state, finished_at, headers) VALUES ('mail',"
                        + " '{\"amount\": 1234567890123456789.10}', 'Order:42', '" + state + "', " + finished
                        + ", '{\"tenant\": \"acme\"}') RETURNING id");
    }

    private String state(long id) throws Exception {
        return schema.one(String.class, "SELECT state FROM rowlock_job WHERE id = ?", id)
                .orElseThrow();
    }

    private String operation() throws Exception {
        return schema.one(String.class, "SELECT what || ' by ' || who || ': ' || why FROM rowlock_operation")
                .orElse("none");
    }

    @Test
    void jobs_are_found_by_subject_and_by_kind() throws Exception {
        long id = job("ready");

        assertThat(terminal.run("jobs", "find", "--subject", "Order:42")).isZero();
        assertThat(terminal.out())
                .contains("id", String.valueOf(id), "mail", "ready")
                .doesNotContain("1234567890");
        assertThat(terminal.run("jobs", "find", "--kind", "mail", "--json")).isZero();
        assertThat(terminal.json().get(0).get("id").isTextual()).isTrue();
        assertThat(terminal.json().get(0).get("id").asText()).isEqualTo(String.valueOf(id));
        assertThat(terminal.run("jobs", "find", "--subject", "Order:43")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("jobs", "find")).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void a_payload_is_shown_only_when_told_and_digit_by_digit() throws Exception {
        String id = String.valueOf(job("ready"));

        assertThat(terminal.run("jobs", "show", id)).isZero();
        assertThat(terminal.out()).contains("Order:42").doesNotContain("1234567890", "acme");
        assertThat(terminal.run("jobs", "show", id, "--payload", "--why", "a complaint", "--json"))
                .isZero();
        assertThat(terminal.out()).contains("1234567890123456789.10", "acme");
        assertThat(terminal.run("jobs", "show", "999")).isEqualTo(ExitCode.NOTHING);
    }

    @Test
    void who_read_a_payload_is_kept() throws Exception {
        assertThat(terminal.run("jobs", "show", String.valueOf(job("ready")), "--payload", "--why", "a complaint"))
                .isZero();
        assertThat(operation()).isEqualTo("read by tester: a complaint");
    }

    @Test
    void many_jobs_are_revived_deleted_and_redacted_by_a_filter() throws Exception {
        long first = job("dead");
        long second = job("dead");
        long third = job("cancelled");

        assertThat(terminal.run("jobs", "revive-all", "--why", "all")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.run("jobs", "revive-all", "--kind", "mail", "--state", "dead", "--why", "mended", "--json"))
                .isZero();
        assertThat(terminal.json().get("done").asText()).isEqualTo("2");
        assertThat(state(first)).isEqualTo("ready");
        assertThat(state(third)).isEqualTo("cancelled");
        assertThat(terminal.run("jobs", "move", String.valueOf(first), "--to", "slow", "--why", "later"))
                .isZero();
        assertThat(terminal.run("jobs", "find", "--queue", "slow", "--json")).isZero();
        assertThat(terminal.json().get(0).get("id").asText()).isEqualTo(String.valueOf(first));
        assertThat(terminal.run(
                        "jobs", "reschedule", String.valueOf(second), "--at", "2040-01-01T00:00:00Z", "--why", "then"))
                .isZero();
        assertThat(terminal.run("jobs", "cancel-all", "--subject", "Order:42", "--why", "over"))
                .isZero();
        assertThat(terminal.run("jobs", "redact", "Order:42", "--why", "asked for"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE payload::text <> '{}'"))
                .isZero();
        assertThat(terminal.run("jobs", "delete-all", "--finished-since", "P1D", "--why", "clean"))
                .isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
    }

    @Test
    void what_waits_is_listed_by_queue_and_kind() throws Exception {
        job("ready");
        assertThat(terminal.run("jobs", "load", "--json")).isZero();
        assertThat(terminal.json().get(0).get("due").asText()).isEqualTo("1");
    }

    @Test
    void alerts_are_listed_and_taken_over() throws Exception {
        assertThat(terminal.run("alerts", "list")).isZero();
        long id = schema.count("INSERT INTO rowlock_alert (cause, kind, bucket, reason) VALUES"
                + " ('job dead', 'mail', clock_timestamp(), 'no route') RETURNING id");
        assertThat(terminal.run("alerts", "list", "--kind", "sms")).isZero();
        assertThat(terminal.run("alerts", "list")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("job dead", "no route");
        assertThat(terminal.run("alerts", "ack", String.valueOf(id))).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.run("alerts", "ack", String.valueOf(id), "--why", "looking"))
                .isZero();
        assertThat(operation()).isEqualTo("acknowledge by tester: looking");
        assertThat(terminal.run("alerts", "ack", String.valueOf(id), "--why", "looking"))
                .isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.run("alerts", "list")).isZero();
    }

    @Test
    void jobs_are_counted_and_their_failures_listed() throws Exception {
        long id = job("dead");
        schema.execute("INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                + " VALUES (" + id + ", 1, 'w', 'java.io.IOException', E'mail\\u001b[31m server', 'at x')");

        assertThat(terminal.run("jobs", "counts", "--json")).isZero();
        assertThat(terminal.json().get("dead").asText()).isEqualTo("1");
        assertThat(terminal.run("jobs", "failures", String.valueOf(id))).isZero();
        assertThat(terminal.out())
                .contains("java.io.IOException", "mail [31m server")
                .doesNotContain("at x", "\u001b");
        assertThat(terminal.run("jobs", "failures", String.valueOf(id), "--stack"))
                .isZero();
        assertThat(terminal.out()).contains("at x");
    }

    @Test
    void jobs_are_cancelled_revived_and_skipped_with_who_and_why() throws Exception {
        long waiting = job("ready");
        assertThat(terminal.run("jobs", "cancel", String.valueOf(waiting), "--why", "by mistake"))
                .isZero();
        assertThat(state(waiting)).isEqualTo("cancelled");
        assertThat(operation()).isEqualTo("cancel by tester: by mistake");

        assertThat(terminal.run("jobs", "revive", String.valueOf(waiting), "--who", "ada", "--why", "meant it"))
                .isZero();
        assertThat(state(waiting)).isEqualTo("ready");

        assertThat(terminal.run("jobs", "revive", String.valueOf(waiting), "999", "--why", "again", "--json"))
                .isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.json().get(0).get("answer").asText()).isEqualTo("ready: neither dead nor cancelled");
        assertThat(terminal.json().get(1).get("answer").asText()).isEqualTo("unknown");
        assertThat(terminal.run("jobs", "skip", String.valueOf(waiting), "--why", "x"))
                .isEqualTo(ExitCode.REFUSED);
    }

    @Test
    void a_change_without_a_reason_is_a_wrong_command_line() throws Exception {
        long waiting = job("ready");

        assertThat(terminal.run("jobs", "cancel", String.valueOf(waiting))).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("--why");
        assertThat(state(waiting)).isEqualTo("ready");
    }

    @Test
    void queues_are_listed_paused_and_resumed() throws Exception {
        job("ready");

        assertThat(terminal.run("queues", "pause", "default", "--why", "mail server down"))
                .isZero();
        assertThat(terminal.run("queues", "list", "--json")).isZero();
        assertThat(terminal.json().get(0).get("queue").asText()).isEqualTo("default");
        assertThat(terminal.json().get(0).get("kinds").asInt()).isEqualTo(1);
        assertThat(terminal.json().get(0).get("pausedBy").asText()).isEqualTo("tester");
        assertThat(terminal.json().get(0).get("firstDue").isNull()).isFalse();
        assertThat(terminal.run("queues", "pause", "default", "--why", "again")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.run("queues", "resume", "default", "--why", "it is back"))
                .isZero();
        assertThat(terminal.run("queues", "list")).isZero();
        assertThat(terminal.out()).contains("default").doesNotContain("tester");
    }

    @Test
    void schedules_are_listed_paused_resumed_and_run() throws Exception {
        rowlock.schedules()
                .declare(Schedule.fixedRate("nightly", Duration.ofDays(1))
                        .job(JobKind.named("mail", String.class), "x"));

        assertThat(terminal.run("schedules", "list")).isZero();
        assertThat(terminal.out()).contains("nightly", "every PT24H", "mail");
        assertThat(terminal.run("schedules", "pause", "nightly", "--why", "holidays"))
                .isZero();
        assertThat(terminal.run("schedules", "list", "--json")).isZero();
        assertThat(terminal.json().get(0).get("pausedBy").asText()).isEqualTo("tester");
        assertThat(terminal.run("schedules", "run", "nightly", "--why", "now, please"))
                .isZero();
        assertThat(terminal.out()).contains("job ");
        assertThat(terminal.run("schedules", "resume", "nightly", "--why", "back"))
                .isZero();
        assertThat(terminal.run("schedules", "resume", "unknown", "--why", "x")).isEqualTo(ExitCode.NOTHING);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1);
    }

    @Test
    void a_checkup_ends_with_what_it_found() throws Exception {
        schema.execute("DROP INDEX rowlock_job_due");

        assertThat(terminal.run("checkup")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("PROBLEM index-missing", "CREATE INDEX CONCURRENTLY rowlock_job_due");
        assertThat(terminal.run("checkup", "--json", "--no-remarks")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.json())
                .allSatisfy(each -> assertThat(each.get("severity").asText()).isNotEqualTo("REMARK"));
    }

    @Test
    void tables_are_validated_printed_and_installed() throws Exception {
        assertThat(terminal.run("schema", "validate")).isZero();
        schema.execute("DROP TABLE rowlock_alert");
        assertThat(terminal.run("schema", "validate")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("rowlock_alert is missing");
        assertThat(terminal.bare("schema", "script", "--schema", "shop", "--prefix", "app_"))
                .isZero();
        assertThat(terminal.out()).contains("CREATE TABLE \"shop\".app_job");
        assertThat(terminal.bare("schema", "script", "--from", "99")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.run("schema", "install", "--prefix", "other_")).isZero();
        assertThat(schema.count("SELECT count(*) FROM other_job")).isZero();
    }

    @Test
    void a_database_that_is_not_there_is_said_in_words() {
        int code = terminal.bare("jobs", "counts", "--url", "jdbc:postgresql://127.0.0.1:1/shop");

        assertThat(code).isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("--debug").doesNotContain("\tat ");
        assertThat(terminal.bare("jobs", "counts", "--debug", "--url", "jdbc:postgresql://127.0.0.1:1/shop"))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("\tat ");
        assertThat(terminal.bare("checkup", "--url", "jdbc:postgresql://127.0.0.1:1/shop"))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("--url");
    }

    @Test
    void tables_that_are_not_there_are_said_in_words() throws Exception {
        schema.execute("DROP TABLE rowlock_job CASCADE");

        assertThat(terminal.run("jobs", "counts")).isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("rowlock_job");
    }
}
