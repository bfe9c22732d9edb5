package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.alert.AlertCause;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerHealth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page for three in the morning leaves nothing out, and what it says to type into psql works. */
@PostgresTest
class NightIT {
    private static final Path PAGE = Path.of("guide/night.md");
    private static final Pattern SQL = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL);

    private static String page() throws IOException {
        return Files.readString(PAGE);
    }

    @Test
    void each_alert_has_its_row() throws IOException {
        List<String> causes =
                Arrays.stream(AlertCause.values()).map(AlertCause::text).toList();
        assertThat(causes).allSatisfy(cause -> assertThat(page()).contains('`' + cause + '`'));
    }

    @Test
    void each_state_of_a_worker_has_its_row() throws IOException {
        List<String> states =
                Arrays.stream(WorkerHealth.State.values()).map(Enum::name).toList();
        List<String> loops = List.of("claimer", "completer", "heartbeat", "pruner", "scheduler");
        assertThat(Stream.concat(states.stream(), loops.stream()))
                .allSatisfy(word -> assertThat(page()).contains('`' + word + '`'));
    }

    @Test
    void each_statement_is_accepted(TestSchema schema) throws Exception {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
        List<String> statements = SQL.matcher(page())
                .results()
                .map(block -> block.group(1).replaceAll("(?m)^--.*$", ""))
                .flatMap(block -> Pattern.compile("[^;]+;").matcher(block).results())
                .map(MatchResult::group)
                .toList();
        assertThat(statements).hasSizeGreaterThan(8);
        for (String statement : statements) {
            schema.rows(statement);
        }
    }
}
