package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the database is found, and the password without being shown. */
@PostgresTest
final class ConnectingIT {
    private TestSchema schema;
    private Terminal terminal;

    @BeforeEach
    void install(TestSchema own) {
        schema = own;
        terminal = new Terminal(own);
        Rowlock.builder()
                .dataSource(own.dataSource())
                .schema(own.name())
                .build()
                .schema()
                .install();
    }

    @Test
    void the_environment_of_psql_is_enough() {
        terminal.variable("PGHOST", schema.server().host())
                .variable("PGPORT", String.valueOf(schema.server().port()))
                .variable("PGDATABASE", schema.server().url().replaceAll(".*/([^?]*).*", "$1"))
                .variable("PGUSER", schema.user())
                .variable("ROWLOCK_PASSWORD", "")
                .variable("PGPASSWORD", schema.password());

        assertThat(terminal.bare("jobs", "counts", "--schema", schema.name())).isZero();
    }

    @Test
    void a_password_comes_from_a_file_or_a_prompt(@TempDir Path folder) throws Exception {
        String role = "r_" + schema.name();
        Path file = Files.writeString(folder.resolve("password"), "typed\n");
        schema.execute("CREATE ROLE " + role + " LOGIN SUPERUSER PASSWORD 'typed'");

        assertThat(terminal.bare(as(role, "--password-file", file.toString()))).isZero();
        assertThat(terminal.bare(as(role, "--ask-password"))).isZero();
        assertThat(terminal.bare(
                        as(role, "--password-file", folder.resolve("gone").toString())))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("cannot be read");
        schema.execute("DROP ROLE " + role);
    }

    private String[] as(String role, String... more) {
        String[] args = new String[8 + more.length];
        String[] fixed = {"jobs", "counts", "--url", schema.server().url(), "--schema", schema.name(), "--user", role};
        System.arraycopy(fixed, 0, args, 0, 8);
        System.arraycopy(more, 0, args, 8, more.length);
        return args;
    }

    @Test
    void a_password_in_the_url_is_refused() {
        assertThat(terminal.bare("jobs", "counts", "--url", "jdbc:postgresql://localhost/shop?user=a&password=b"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("--password-file").doesNotContain("password=b");
        assertThat(terminal.bare("jobs", "counts", "--url", "jdbc:mysql://localhost/shop"))
                .isEqualTo(ExitCode.USAGE);
    }

    @Test
    void what_the_environment_says_wrong_is_refused_with_what_to_set() {
        assertThat(bareIn("PGHOST", "/var/run/postgresql")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("PGHOST=localhost", "--url", "/var/run/postgresql");
        assertThat(bareIn("PGPORT", "abc")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("PGPORT must be a number", "abc");
        assertThat(bareIn("PGPORT", "70000")).isEqualTo(ExitCode.USAGE);
        assertThat(bareIn("PGPORT", "5432,5433")).isEqualTo(ExitCode.USAGE);
        assertThat(bareIn("PGSSLMODE", "maybe")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("PGSSLMODE", "verify-full");
        assertThat(bareIn("PGHOST", "db example")).isEqualTo(ExitCode.USAGE);
        assertThat(bareIn("ROWLOCK_URL", "jdbc:postgresql://localhost:abc/shop"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("ROWLOCK_URL").doesNotContain("Exception");
        assertThat(terminal.bare("jobs", "counts", "--url", "postgresql://ops:secret@localhost/shop"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("--password-file").doesNotContain("secret");
        assertThat(terminal.bare("jobs", "counts", "--url", "postgresql://ops@localhost/shop"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("--user");
    }

    private int bareIn(String name, String value) {
        terminal = new Terminal(schema).variable(name, value);
        return terminal.bare("jobs", "counts");
    }

    @Test
    void an_address_with_colons_and_several_hosts_are_read_as_psql_reads_them() {
        assertThat(PgHosts.of(in("::1", "5433"))).isEqualTo("[::1]:5433");
        assertThat(PgHosts.of(in("a,b", "5433"))).isEqualTo("a:5433,b:5433");
        assertThat(PgHosts.of(in("a,b", "1,2"))).isEqualTo("a:1,b:2");
        assertThat(PgHosts.of(new Surroundings(Map.of(), "tester", () -> null))).isEqualTo("localhost:5432");
    }

    private static Surroundings in(String host, String port) {
        return new Surroundings(Map.of("PGHOST", host, "PGPORT", port), "tester", () -> null);
    }

    @Test
    void a_database_that_cannot_be_used_is_told_with_what_to_look_at() throws Exception {
        assertThat(terminal.bare("jobs", "counts", "--url", "jdbc:postgresql://no-such-host.invalid/shop"))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("no-such-host.invalid", "--url");
        assertThat(terminal.bare("jobs", "counts", "--url", "jdbc:postgresql://127.0.0.1:1/shop"))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("127.0.0.1:1", "--url");
        terminal.variable("PGHOST", "127.0.0.1").variable("PGPORT", "1");
        assertThat(terminal.bare("jobs", "counts")).isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("PGHOST (127.0.0.1)", "PGPORT (1)");
        assertThat(terminal.bare(
                        "jobs",
                        "counts",
                        "--url",
                        schema.server().url().replaceAll("(.*/)[^/?]*", "$1nowhere"),
                        "--user",
                        schema.user()))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("no such database", "--url");
        assertThat(terminal.bare("jobs", "counts", "--url", schema.server().url(), "--user", "nobody_here"))
                .isEqualTo(ExitCode.DATABASE);
        assertThat(terminal.err()).contains("login of nobody_here", "--password-file");
    }

    @Test
    void tables_that_are_not_there_are_told_with_what_to_type() throws Exception {
        for (String command : new String[] {
            "jobs counts", "alerts list", "queues list", "schedules list", "sagas find", "operations list"
        }) {
            terminal.bare((command + " --prefix other_ --url " + schema.server().url() + " --user " + schema.user()
                            + " --schema " + schema.name())
                    .split(" "));
            assertThat(terminal.err()).as(command).contains(" --prefix other_ schema install makes", "prefix other_");
            terminal.bare(
                    (command + " --schema nowhere --url " + schema.server().url() + " --user " + schema.user())
                            .split(" "));
            assertThat(terminal.err()).as(command).contains(" --schema nowhere schema install makes", "schema nowhere");
        }
        assertThat(terminal.bare(("schema validate --schema nowhere --url "
                                + schema.server().url() + " --user " + schema.user())
                        .split(" ")))
                .isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.err()).contains(" --schema nowhere schema install makes");
    }

    @Test
    void options_of_the_database_stand_before_the_command_or_behind_it() {
        assertThat(terminal.bare(
                        "--url",
                        schema.server().url(),
                        "--user",
                        schema.user(),
                        "jobs",
                        "--schema",
                        schema.name(),
                        "counts",
                        "--json"))
                .isZero();
        assertThat(terminal.bare(
                        "--json",
                        "jobs",
                        "counts",
                        "--url",
                        schema.server().url(),
                        "--user",
                        schema.user(),
                        "--schema",
                        schema.name()))
                .isZero();
        assertThat(terminal.out()).startsWith("{");
    }
}
