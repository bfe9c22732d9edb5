package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What people did is listed; many jobs are moved and rescheduled; queues are limited; alerts are taken over by what they are. */
@PostgresTest
final class MoreCommandsIT {
    private TestSchema schema;
    private Terminal terminal;
    private Rowlock rowlock;

    @BeforeEach
    void install(TestSchema own) throws Exception {
        schema = own;
        terminal = new Terminal(own);
        rowlock = Rowlock.builder()
                .dataSource(own.dataSource())
                .schema(own.name())
                .build();
        rowlock.schema().install();
        own.execute("TRUNCATE rowlock_job, rowlock_queue, rowlock_operation, rowlock_alert, rowlock_schedule");
    }

    private long job(String state) throws Exception {
        return schema.count("INSERT INTO rowlock_job (kind, payload, subject, state, finished_at) VALUES ('mail', '{}',"
                + " 'Order:42', '" + state + "', " + (state.equals("ready") ? "NULL" : "clock_timestamp()")
                + ") RETURNING id");
    }

    @Test
    void what_people_did_is_listed_by_who_and_to_what_and_when() throws Exception {
        String id = String.valueOf(job("ready"));
        assertThat(terminal.run("jobs", "cancel", id, "--who", "ada", "--why", "INC-12"))
                .isZero();
        assertThat(terminal.run("jobs", "revive", id, "--who", "bob", "--why", "INC-13"))
                .isZero();
        assertThat(terminal.run("queues", "pause", "mails", "--why", "INC-14")).isZero();

        assertThat(terminal.run("operations", "list")).isZero();
        assertThat(terminal.out().lines())
                .hasSize(4)
                .anySatisfy(line -> assertThat(line).contains("tester", "pause", "queue mails", "INC-14"))
                .anySatisfy(line -> assertThat(line).contains("ada", "cancel", "job " + id, "INC-12"));
        assertThat(terminal.run("operations", "list", "--who", "ada", "--json")).isZero();
        assertThat(terminal.json()).hasSize(1);
        assertThat(terminal.json().get(0).get("job").asText()).isEqualTo(id);
        assertThat(terminal.run("operations", "list", "--subject", "Order:42", "--json"))
                .isZero();
        assertThat(terminal.json()).hasSize(2);
        assertThat(terminal.run("operations", "list", "--job", id, "--what", "revive", "--json"))
                .isZero();
        assertThat(terminal.json()).hasSize(1);
        assertThat(terminal.run("operations", "list", "--since", "PT1H", "--limit", "2"))
                .isZero();
        assertThat(terminal.out().lines()).hasSize(3);
        assertThat(terminal.err()).contains("--limit");
        assertThat(terminal.run("operations", "list", "--before", "PT1H")).isEqualTo(ExitCode.NOTHING);
    }

    @Test
    void alerts_are_taken_over_by_cause_and_kind_and_listed_with_who_and_why() throws Exception {
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason) VALUES"
                + " ('job dead', 'mail', clock_timestamp(), 'no route'), ('job dead', 'sms', clock_timestamp(), 'r'),"
                + " ('queue lag', 'mail', clock_timestamp(), 'r')");

        assertThat(terminal.run("alerts", "list", "--cause", "queue lag")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out().lines()).hasSize(2);
        assertThat(terminal.run(
                        "alerts", "acknowledge", "--cause", "job-dead", "--kind", "mail", "--why", "INC-12", "--json"))
                .isZero();
        assertThat(terminal.json().get("done").asText()).isEqualTo("1");
        assertThat(terminal.run("alerts", "list", "--limit", "1")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out().lines()).hasSize(2);
        assertThat(terminal.err()).contains("--limit");
        assertThat(terminal.run("alerts", "list", "--acknowledged", "--json")).isZero();
        assertThat(terminal.json()).hasSize(1);
        assertThat(terminal.json().get(0).get("by").asText()).isEqualTo("tester");
        assertThat(terminal.json().get(0).get("why").asText()).isEqualTo("INC-12");
        String id = terminal.json().get(0).get("id").asText();
        assertThat(terminal.run("alerts", "acknowledge", id, "--why", "me too")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("was acknowledged by tester", "INC-12");
    }

    @Test
    void many_jobs_are_moved_and_rescheduled_by_a_filter() throws Exception {
        job("ready");
        job("ready");
        job("dead");

        assertThat(terminal.run("jobs", "move-all", "--kind", "mail", "--to", "slow", "--why", "x", "--json"))
                .isZero();
        assertThat(terminal.json().get("done").asText()).isEqualTo("2");
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE queue = 'slow'"))
                .isEqualTo(2);
        assertThat(terminal.run("jobs", "reschedule-all", "--queue", "slow", "--at", "P10D", "--why", "x"))
                .isZero();
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE run_at > clock_timestamp() + interval '9 days'"))
                .isEqualTo(2);
    }

    @Test
    void a_job_is_rescheduled_to_an_instant_a_time_with_its_offset_or_so_long_from_now() throws Exception {
        long id = job("ready");
        for (String at : List.of("2040-01-01T00:00:00Z", "2040-01-01T02:00:00+02:00", "2040-01-01T00:00Z")) {
            assertThat(terminal.run("jobs", "reschedule", String.valueOf(id), "--at", at, "--why", "x"))
                    .isZero();
            assertThat(runAt(id)).isEqualTo(Instant.parse("2040-01-01T00:00:00Z"));
        }
        assertThat(terminal.run("jobs", "reschedule", String.valueOf(id), "--at", "PT1H", "--why", "x"))
                .isZero();
        assertThat(runAt(id))
                .isBetween(Instant.now().plusSeconds(3_000), Instant.now().plusSeconds(3_700));
    }

    private Instant runAt(long id) throws Exception {
        return rowlock.jobs().find(id).orElseThrow().progress().runAt();
    }

    @Test
    void running_jobs_are_found_by_the_word_for_them() throws Exception {
        job("ready");
        long running = schema.count("INSERT INTO rowlock_job (kind, payload, locked_by, locked_until, token, attempts)"
                + " VALUES ('mail', '{}', 'w', clock_timestamp() + interval '1 minute', 1, 1) RETURNING id");
        long dead = job("dead");

        assertThat(terminal.run("jobs", "find", "--state", "running", "--json")).isZero();
        assertThat(terminal.json()).hasSize(1);
        assertThat(terminal.json().get(0).get("id").asText()).isEqualTo(String.valueOf(running));
        assertThat(terminal.run("jobs", "find", "--state", "leased,dead", "--json"))
                .isZero();
        assertThat(terminal.json()).hasSize(2);
        assertThat(terminal.json().get(0).get("id").asText()).isEqualTo(String.valueOf(dead));
        assertThat(terminal.run("jobs", "find", "--state", "ready", "--json")).isZero();
        assertThat(terminal.json()).hasSize(2);
    }

    @Test
    void a_pause_is_listed_with_who_and_why_and_said_again_to_who_pauses_twice() throws Exception {
        job("ready");
        assertThat(terminal.run("queues", "pause", "default", "--why", "an older one"))
                .isZero();
        assertThat(terminal.run("queues", "resume", "default", "--why", "x")).isZero();
        assertThat(terminal.run("queues", "pause", "default", "--who", "ada", "--why", "mail server down"))
                .isZero();

        assertThat(terminal.run("queues", "list", "--json")).isZero();
        assertThat(terminal.json().get(0).get("pausedBy").asText()).isEqualTo("ada");
        assertThat(terminal.json().get(0).get("pausedWhy").asText()).isEqualTo("mail server down");
        assertThat(terminal.run("queues", "pause", "default", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("was paused already by ada");
    }

    @Test
    void limits_and_what_dead_heads_do_are_set_part_by_part_and_shown() {
        assertThat(terminal.run("queues", "limits", "mail", "--running", "5", "--rate", "100/PT1M", "--why", "x"))
                .isZero();
        assertThat(terminal.run(
                        "queues",
                        "limits",
                        "mail",
                        "--running",
                        "none",
                        "--running-per-key",
                        "1",
                        "--why",
                        "x",
                        "--json"))
                .isZero();
        assertThat(rowlock.queues().limitsOf("mail").rate()).isNotNull();
        assertThat(rowlock.queues().limitsOf("mail").running()).isNull();
        assertThat(terminal.out()).contains("\"running\" : null", "\"rate\" : \"100/PT1M\"", "\"runningPerKey\" : 1");
        assertThat(terminal.run("queues", "dead-heads", "mail", "--policy", "pass", "--why", "x"))
                .isZero();
        assertThat(terminal.run("queues", "dead-heads", "mail")).isZero();
        assertThat(terminal.out()).contains("pass");
        assertThat(terminal.run("queues", "list")).isZero();
        assertThat(terminal.out()).contains("rate 100/PT1M, running per key 1", "pass");
        assertThat(terminal.run("queues", "limits")).isZero();
        assertThat(terminal.out()).contains("mail", "100/PT1M");
    }

    @Test
    void schedules_are_removed_and_an_answer_says_which_case_it_was() {
        rowlock.schedules()
                .declare(Schedule.fixedRate("nightly", Duration.ofDays(1))
                        .job(JobKind.named("mail", String.class), "x"));

        assertThat(terminal.run("schedules", "resume", "nightly", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("was not paused");
        assertThat(terminal.run("schedules", "pause", "nightly", "--who", "ada", "--why", "holidays"))
                .isZero();
        assertThat(terminal.run("schedules", "pause", "nightly", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("was paused already by ada");
        assertThat(terminal.run("schedules", "list", "--json")).isZero();
        assertThat(terminal.out()).contains("\"pausedWhy\" : \"holidays\"");
        assertThat(terminal.run("schedules", "remove", "nightly", "--why", "nobody needs it"))
                .isZero();
        assertThat(terminal.run("schedules", "pause", "nightly", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("was removed at");
        assertThat(terminal.run("schedules", "remove", "nightly", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.run("schedules", "pause", "weekly", "--why", "x")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.out()).contains("unknown");
        assertThat(terminal.run("schedules", "list", "--removed")).isZero();
        assertThat(terminal.out()).contains("nightly");
        assertThat(terminal.run("operations", "list", "--schedule", "nightly", "--what", "remove"))
                .isZero();
    }

    @Test
    void what_rows_say_steers_no_terminal_and_scripts_read_it_as_it_is() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, subject, last_error) VALUES ('mail',"
                        + " E'{\"a\": \"x\\u202ey\\u009b\"}', E'Order:\\u202e24\\u200b', E'a\\u001b[31m\\u2066b\\u009b\\u2028c\\U000E0041')");

        assertThat(terminal.run("jobs", "find", "--kind", "mail")).isZero();
        assertThat(terminal.out().codePoints())
                .noneMatch(point -> point != '\n'
                        && (Character.isISOControl(point) || Character.getType(point) == Character.FORMAT));
        assertThat(terminal.run("jobs", "find", "--kind", "mail", "--json")).isZero();
        assertThat(terminal.out())
                .contains("\\u202e", "\\u001B", "\\u009b", "\\udb40\\udc41")
                .doesNotContain("\u202e", "\u009b");
        assertThat(terminal.json().get(0).get("subject").asText()).isEqualTo("Order:\u202e24\u200b");
        assertThat(terminal.json().get(0).get("lastError").asText())
                .isEqualTo("a\u001b[31m\u2066b\u009b\u2028c\udb40\udc41");
        String id = terminal.json().get(0).get("id").asText();
        assertThat(terminal.run("jobs", "show", id, "--payload", "--why", "a complaint", "--json"))
                .isZero();
        assertThat(terminal.out()).doesNotContain("\u202e");
        assertThat(terminal.json().get("payload").get("a").asText()).isEqualTo("x\u202ey\u009b");
    }
}
