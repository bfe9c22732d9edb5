package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is not there ends every command in one way, and can be read by scripts; what is said wrong ends before any statement. */
@PostgresTest
final class MissingIT {
    private TestSchema schema;
    private Terminal terminal;

    @BeforeEach
    void install(TestSchema own) throws Exception {
        schema = own;
        terminal = new Terminal(own);
        Rowlock.builder()
                .dataSource(own.dataSource())
                .schema(own.name())
                .build()
                .schema()
                .install();
        own.execute(
                "TRUNCATE rowlock_job, rowlock_queue, rowlock_operation, rowlock_alert, rowlock_lease, rowlock_idempotency_key");
    }

    @Test
    void nothing_matched_is_an_exit_code_of_its_own() throws Exception {
        List<String> commands = List.of(
                "jobs find --subject Order:43",
                "jobs find --state running",
                "jobs show 999",
                "jobs failures 999",
                "jobs cancel 999 --why x",
                "jobs revive 999 --why x",
                "jobs skip 999 --why x",
                "jobs delete 999 --why x",
                "jobs reschedule 999 --at PT1H --why x",
                "jobs move 999 --to slow --why x",
                "jobs cancel-all --kind mail --why x",
                "jobs revive-all --kind mail --why x",
                "jobs delete-all --kind mail --why x",
                "jobs reschedule-all --kind mail --at PT1H --why x",
                "jobs move-all --kind mail --to slow --why x",
                "jobs redact Order:43 --why x",
                "alerts list --acknowledged",
                "alerts acknowledge 999 --why x",
                "alerts acknowledge --cause job-dead --why x",
                "operations list --who nobody",
                "queues resume nowhere --why x",
                "queues blocked nowhere",
                "queues limits nowhere",
                "queues dead-heads nowhere",
                "schedules pause unknown --why x",
                "schedules resume unknown --why x",
                "schedules run unknown --why x",
                "schedules remove unknown --why x",
                "sagas find --name unknown",
                "sagas show unknown",
                "sagas timeline unknown",
                "sagas retry unknown --why x",
                "sagas hurry unknown --why x",
                "sagas skip unknown step --why x",
                "sagas resolve unknown step --why x",
                "sagas cancel unknown --why x",
                "sagas retry-all --name unknown --why x",
                "sagas cancel-all --name unknown --why x",
                "sagas redact unknown --why x",
                "operations list --lease unknown",
                "leases list --held",
                "leases show unknown",
                "leases history unknown",
                "leases revoke unknown --why x",
                "partitions members unknown",
                "partitions parts unknown",
                "answers show unknown --principal ada --why x",
                "answers redact ada --why x",
                "answers redact ada --key unknown --why x");
        for (String command : commands) {
            assertThat(terminal.run(command.split(" "))).as(command).isEqualTo(ExitCode.NOTHING);
            assertThat(terminal.out()).as(command).isNotBlank();
            assertThat(terminal.err()).as(command).isEmpty();
            assertThat(terminal.run((command + " --json").split(" ")))
                    .as(command)
                    .isEqualTo(ExitCode.NOTHING);
            assertThat(terminal.json().isContainerNode()).as(command).isTrue();
        }
    }

    @Test
    void of_several_one_that_is_not_there_is_said_and_one_that_is_refused_weighs_more() throws Exception {
        String id = String.valueOf(schema.count(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at) VALUES ('mail', '{}', 'dead', clock_timestamp())"
                        + " RETURNING id"));

        assertThat(terminal.run("jobs", "revive", id, "999", "--why", "x")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.out()).contains("done", "unknown");
        assertThat(terminal.run("jobs", "revive", id, "999", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("neither dead nor cancelled", "unknown");
        assertThat(terminal.run("jobs", "failures", id))
                .as("a job without failures is there")
                .isZero();
        assertThat(terminal.run("jobs", "show", "999", "--json")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.json().get("id").asText()).isEqualTo("999");
        assertThat(terminal.json().get("answer").asText()).isEqualTo("unknown");
    }

    @Test
    void what_is_said_wrong_is_refused_before_any_statement_in_words() {
        List<List<String>> wrong = List.of(
                List.of("--why", "jobs", "cancel", "1", "--why", "  "),
                List.of("--why", "jobs", "show", "1", "--payload", "--why", ""),
                List.of("--why", "jobs", "show", "1", "--payload"),
                List.of(
                        "at most 200 characters, got 201; say it in short",
                        "jobs",
                        "revive",
                        "1",
                        "--why",
                        "x".repeat(201)),
                List.of(
                        "dead, cancelled ones",
                        "jobs",
                        "revive-all",
                        "--kind",
                        "mail",
                        "--state",
                        "completed",
                        "--why",
                        "x"),
                List.of("ready, parked ones", "jobs", "cancel-all", "--state", "dead", "--why", "x"),
                List.of("completed, dead, cancelled", "jobs", "delete-all", "--state", "ready,parked", "--why", "x"),
                List.of("--why", "alerts", "acknowledge", "1", "--why", " "),
                List.of("--why", "sagas", "retry", "1", "--why", " "),
                List.of("--why", "schedules", "pause", "a", "--why", " "),
                List.of("--why", "queues", "limits", "mail", "--running", "5"),
                List.of("nothing to set", "queues", "limits", "mail", "--why", "x"),
                List.of("whose limits", "queues", "limits", "--running", "5", "--why", "x"),
                List.of("100/PT1M", "queues", "limits", "mail", "--rate", "5", "--why", "x"),
                List.of("or none", "queues", "limits", "mail", "--running", "five", "--why", "x"),
                List.of("block or pass", "queues", "dead-heads", "mail", "--policy", "skip", "--why", "x"),
                List.of("job dead", "alerts", "list", "--cause", "dead"),
                List.of("either their ids", "alerts", "acknowledge", "--why", "x"),
                List.of("either their ids", "alerts", "acknowledge", "1", "--kind", "mail", "--why", "x"),
                List.of("on one thing", "operations", "list", "--job", "1", "--queue", "mail"),
                List.of("on one thing", "operations", "list", "--job", "1", "--lease", "mail"),
                List.of("--why", "leases", "revoke", "mail", "--why", " "),
                List.of("--held or --free", "leases", "list", "--held", "--free"),
                List.of("--limit must be", "leases", "history", "mail", "--limit", "1001"),
                List.of("--limit must be", "queues", "blocked", "--limit", "0"),
                List.of("--principal", "answers", "show", "k", "--why", "x"),
                List.of("idempotency key", "answers", "redact", "ada", "--key", "\u00e9", "--why", "x"),
                List.of("--limit must be", "operations", "list", "--limit", "0"),
                List.of("--limit must be", "sagas", "find", "--limit", "0"),
                List.of("parked", "jobs", "find", "--state", "waiting"),
                List.of("--state ready", "jobs", "cancel-all", "--state", "running", "--why", "x"),
                List.of("how long from now", "jobs", "reschedule", "1", "--at", "tomorrow", "--why", "x"),
                List.of("offset", "jobs", "reschedule", "1", "--at", "2026-11-29T03:00:00", "--why", "x"),
                List.of("how long from now", "jobs", "reschedule", "1", "--at", "PT-1H", "--why", "x"),
                List.of("how long ago", "jobs", "find", "--finished-since", "P1M"),
                List.of("which jobs", "jobs", "move-all", "--to", "slow", "--why", "x"),
                List.of("which sagas", "sagas", "retry-all", "--why", "x"));
        for (List<String> line : wrong) {
            String[] command = line.subList(1, line.size()).toArray(String[]::new);
            assertThat(terminal.bare(withUrl(command))).as(line.toString()).isEqualTo(ExitCode.USAGE);
            assertThat(terminal.err()).as(line.toString()).contains(line.get(0)).doesNotContain("\tat ", "Exception");
            assertThat(terminal.out()).as(line.toString()).isEmpty();
        }
    }

    /** Nobody is there: what sends a statement ends otherwise. */
    private static String[] withUrl(String... command) {
        String[] all = new String[command.length + 2];
        System.arraycopy(command, 0, all, 0, command.length);
        all[command.length] = "--url";
        all[command.length + 1] = "jdbc:postgresql://127.0.0.1:1/shop";
        return all;
    }
}
