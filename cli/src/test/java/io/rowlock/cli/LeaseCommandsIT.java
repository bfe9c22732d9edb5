package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who leads, who works on which part, which keys wait, what was answered: as an operator asks. */
@PostgresTest
final class LeaseCommandsIT {
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
        own.execute("TRUNCATE rowlock_job, rowlock_key, rowlock_operation, rowlock_lease, rowlock_lease_history,"
                + " rowlock_partition_member, rowlock_idempotency_key");
        own.execute("INSERT INTO rowlock_lease (name, token, holder, expires_at) VALUES"
                + " ('billing', 7, 'host-1', clock_timestamp() + interval '1 minute'),"
                + " ('import', 3, NULL, clock_timestamp()),"
                + " ('partition:feed/0', 8, 'host-1', clock_timestamp() + interval '1 minute'),"
                + " ('partition:feed/1', 9, 'host-2', clock_timestamp() - interval '1 minute')");
        own.execute("INSERT INTO rowlock_lease_history (name, token, holder, taken_at) VALUES"
                + " ('billing', 7, 'host-1', clock_timestamp())");
        own.execute("INSERT INTO rowlock_partition_member (partitions, member, parts, joined_at, expires_at) VALUES"
                + " ('feed', 'host-1-abcdefgh', 3, '2026-01-01', clock_timestamp() + interval '1 minute'),"
                + " ('feed', 'host-2-abcdefgh', 3, '2026-01-02', clock_timestamp() - interval '1 minute')");
    }

    @Test
    void leases_are_listed_shown_and_taken_away_with_who_and_why() throws Exception {
        assertThat(terminal.run("leases", "list", "--json")).isZero();
        assertThat(terminal.json()).hasSize(4);
        assertThat(terminal.run("leases", "list", "--held", "--json")).isZero();
        assertThat(terminal.json())
                .extracting(each -> each.get("name").asText())
                .containsExactly("billing", "partition:feed/0");
        assertThat(terminal.run("leases", "list", "--free", "--limit", "1")).isZero();
        assertThat(terminal.out().lines()).hasSize(2);
        assertThat(terminal.err()).contains("--limit");
        assertThat(terminal.run("leases", "show", "billing", "--json")).isZero();
        assertThat(terminal.json().get("holder").asText()).isEqualTo("host-1");
        assertThat(terminal.json().get("token").asText()).isEqualTo("7");

        assertThat(terminal.run("leases", "revoke", "billing", "import", "--why", "hangs"))
                .isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("taken from host-1", "nobody holds it");
        assertThat(terminal.run("leases", "history", "billing", "--json")).isZero();
        assertThat(terminal.json().get(0).get("end").asText()).isEqualTo("revoked");
        assertThat(terminal.run("operations", "list", "--lease", "billing", "--json"))
                .isZero();
        JsonNode done = terminal.json().get(0);
        assertThat(done.get("who").asText()).isEqualTo("tester");
        assertThat(done.get("what").asText()).isEqualTo("revoke");
        assertThat(done.get("lease").asText()).isEqualTo("billing");
        assertThat(terminal.run("operations", "list")).isZero();
        assertThat(terminal.out()).contains("lease billing");
    }

    @Test
    void partitions_are_listed_with_those_who_share_them_and_parts_that_nobody_works_on() throws Exception {
        assertThat(terminal.run("partitions", "list", "--json")).isZero();
        JsonNode feed = terminal.json().get(0);
        assertThat(feed.get("name").asText()).isEqualTo("feed");
        assertThat(feed.get("parts").asInt()).isEqualTo(3);
        assertThat(feed.get("members").asInt()).isEqualTo(1);
        assertThat(feed.get("held").asInt()).isEqualTo(1);
        assertThat(feed.get("free").asInt()).isEqualTo(2);

        assertThat(terminal.run("partitions", "members", "feed", "--json")).isZero();
        assertThat(terminal.json()).hasSize(2);
        assertThat(terminal.json().get(0).get("member").asText()).isEqualTo("host-1-abcdefgh");
        assertThat(terminal.json().get(0).get("holds").get(0).asText()).isEqualTo("0");
        assertThat(terminal.json().get(1).get("holds")).isEmpty();
        assertThat(terminal.run("partitions", "parts", "feed", "--json")).isZero();
        assertThat(terminal.json()).hasSize(2);
        assertThat(terminal.run("partitions", "parts", "feed", "--free")).isZero();
        assertThat(terminal.out().lines()).hasSize(2);
    }

    @Test
    void keys_behind_a_dead_job_are_listed_with_how_many_wait() throws Exception {
        assertThat(terminal.run("queues", "blocked")).isZero();
        assertThat(terminal.out()).isEqualTo("nothing\n");
        schema.execute(
                "INSERT INTO rowlock_job (queue, kind, payload, ordering_key, state, finished_at)"
                        + " SELECT 'mail', 'welcome', '{}', 'key-' || n, 'dead', clock_timestamp() FROM generate_series(1, 3) n;"
                        + " INSERT INTO rowlock_key (queue, ordering_key, blocked_by)"
                        + " SELECT queue, ordering_key, id FROM rowlock_job;"
                        + " INSERT INTO rowlock_key (queue, ordering_key) VALUES ('mail', 'free');"
                        + " INSERT INTO rowlock_job (queue, kind, payload, ordering_key) VALUES ('mail', 'welcome', '{}', 'key-2')");

        assertThat(terminal.run("queues", "blocked", "--json")).isZero();
        assertThat(terminal.json())
                .extracting(each -> each.get("key").asText())
                .containsExactly("key-1", "key-2", "key-3");
        assertThat(terminal.json())
                .extracting(each -> each.get("waiting").asInt())
                .containsExactly(0, 1, 0);
        assertThat(terminal.json().get(0).get("kind").asText()).isEqualTo("welcome");
        assertThat(terminal.run("queues", "blocked", "mail", "--limit", "2")).isZero();
        assertThat(terminal.out().lines()).hasSize(3);
        assertThat(terminal.err()).contains("--limit");
    }

    @Test
    void answers_are_read_and_taken_out_with_who_and_why() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_idempotency_key (key, scope, principal, method, path, fingerprint, response, expires_at)"
                        + " VALUES ('k-1', sha256('a'), 'acme/ada', 'POST', '/orders', 'f', '{\"total\":1.10}', 'infinity'),"
                        + " ('k-2', sha256('b'), 'acme/ada', 'POST', '/orders', 'f', '{}', 'infinity')");

        assertThat(terminal.run("answers", "show", "k-1", "--principal", "acme/ada", "--why", "asked", "--json"))
                .isZero();
        assertThat(terminal.out()).contains("1.10");
        assertThat(terminal.run("answers", "redact", "acme/ada", "--key", "k-1", "--why", "asked", "--json"))
                .isZero();
        assertThat(terminal.json().get("redacted").asText()).isEqualTo("1");
        assertThat(terminal.run("answers", "redact", "acme/ada", "--why", "asked", "--json"))
                .isZero();
        assertThat(terminal.json().get("redacted").asText()).isEqualTo("1");
        assertThat(terminal.run("answers", "show", "k-1", "--principal", "acme/ada", "--why", "asked", "--json"))
                .isZero();
        assertThat(terminal.json().get(0).get("answer").isNull()).isTrue();
        assertThat(terminal.run("operations", "list", "--what", "redact")).isZero();
        assertThat(terminal.out()).contains("answers of acme/ada key k-1", "answers of acme/ada");
    }
}
