package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
