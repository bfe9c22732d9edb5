package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The shared server is chosen once in a JVM, so each case needs a JVM of its own. */
final class SwitchIT {

    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void url_names_a_server_that_runs_already() throws Exception {
        try (OwnPostgres server = TestPostgres.embedded(o -> {})) {
            assertThat(said(o -> o.property("rowlock.test.jdbc-url", server.url())
                            .property("rowlock.test.jdbc-user", server.user())
                            .property("rowlock.test.jdbc-password", server.password())))
                    .isEqualTo("shared " + server.url() + " 0 rows");
        }
    }

    @Test
    void child_shares_the_server_and_the_schema_it_is_given() throws Exception {
        TestPostgres server = TestPostgres.shared();
        try (TestSchema schema = TestSchema.create(server, "for a child")) {
            schema.execute("CREATE TABLE note (id bigint)");
            assertThat(said(o -> o.sharing(server).arguments(schema.name())))
                    .isEqualTo("shared " + server.url() + " 0 rows");
            assertThat(schema.count("SELECT count(*) FROM note")).isOne();
        }
    }

    @Test
    void embedded_can_be_forced() throws Exception {
        assertThat(said(o -> o.property("rowlock.test.postgres", "embedded")
                        .property("rowlock.test.jdbc-url", "jdbc:postgresql://127.0.0.1:1/nowhere")))
                .matches("shared jdbc:postgresql://127.0.0.1:\\d+/postgres 0 rows")
                .doesNotContain(":1/");
    }

    @Test
    void impossible_choice_is_an_error_that_says_what_to_do() throws Exception {
        assertThat(said(o -> o.property("rowlock.test.postgres", "url")))
                .isEqualTo("refused rowlock.test.postgres=url needs the system property rowlock.test.jdbc-url"
                        + " or the environment variable ROWLOCK_TEST_JDBC_URL");
        assertThat(said(o -> o.property("rowlock.test.postgres", "oracle")))
                .isEqualTo("refused rowlock.test.postgres must be url, docker or embedded, got oracle");
    }

    @Test
    void platform_without_binaries_is_told_the_other_ways() throws Exception {
        assertThat(said(o -> o.property("rowlock.test.postgres", "embedded").property("os.arch", "vax")))
                .startsWith("refused The embedded PostgreSQL did not start: ")
                .contains("vax")
                .contains("Docker")
                .contains("-Drowlock.test.jdbc-url=");
    }

    private static String said(Consumer<ChildJvmOptions> options) throws InterruptedException {
        try (ChildJvm child = ChildJvm.start(SharedMain.class, options)) {
            return child.awaitLine(line -> line.startsWith("shared ") || line.startsWith("refused "), SOON);
        }
    }
}
