package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar that people get, in a JVM of its own. */
@PostgresTest
final class RunnableJarIT {
    @TempDir
    private Path folder;

    /** What a process said, and how it ended. */
    private record Ended(int code, String out, String err) {}

    @Test
    void the_jar_alone_installs_and_looks(TestSchema schema) throws Exception {
        Ended installed = run(schema, "schema", "install");
        assertThat(installed.err()).isEmpty();
        assertThat(installed.code()).isZero();
        Ended counts = run(schema, "jobs", "counts", "--json");
        assertThat(counts.code()).isZero();
        assertThat(counts.err()).isEmpty();
        assertThat(counts.out()).contains("\"ready\" : \"0\"");
        assertThat(run(schema, "checkup").out()).contains("fsync-off");
        assertThat(run(schema, "sagas", "find").code()).isEqualTo(ExitCode.NOTHING);
    }

    @Test
    void the_jar_needs_no_database_for_help_and_script(TestSchema schema) throws Exception {
        assertThat(start(Map.of(), "--help").out()).contains("At three in the morning");
        assertThat(start(Map.of(), "schema", "script").out()).contains("CREATE TABLE \"public\".rowlock_job");
        assertThat(start(Map.of(), "--version").out()).startsWith("rowlock 0.");
    }

    private Ended run(TestSchema schema, String... args) throws Exception {
        List<String> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--url", schema.server().url(), "--user", schema.user(), "--schema", schema.name()));
        return start(Map.of("ROWLOCK_PASSWORD", schema.password()), all.toArray(String[]::new));
    }

    private Ended start(Map<String, String> environment, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                System.getProperty("rowlock.cli.jar")));
        command.addAll(List.of(args));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Ended(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }
}
