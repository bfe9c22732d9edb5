package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The commands on a door that keeps its alerts in memory. */
final class AlertCommandsTest {
    private final List<AlertDoor.OpenAlert> open = new ArrayList<>();
    private final List<String> done = new ArrayList<>();
    private final StringWriter out = new StringWriter();

    private final AlertDoor door = new AlertDoor() {
        @Override
        public List<OpenAlert> open(@Nullable String kind, @Nullable Long after, int most) {
            return open.stream()
                    .filter(each -> kind == null || each.kind().equals(kind))
                    .filter(each -> after == null || each.id() > after)
                    .limit(most)
                    .toList();
        }

        @Override
        public boolean acknowledge(long id, By by) {
            done.add(id + " " + by.who() + " " + by.why());
            return open.removeIf(each -> each.id() == id);
        }
    };

    private int run(String... args) {
        return RowlockCommand.line(new Surroundings(Map.of(), "tester", () -> null))
                .addSubcommand(new AlertCommands(rowlock -> door))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(new StringWriter(), true))
                .execute(args);
    }

    @Test
    void all_pages_are_listed_and_open_alerts_are_no_fine_end() {
        assertThat(run("alerts", "list")).isZero();
        IntStream.rangeClosed(1, 1_001)
                .forEach(id ->
                        open.add(new AlertDoor.OpenAlert(id, "job dead", "mail", 2, Instant.EPOCH, 4711L, "no route")));

        assertThat(run("alerts", "list")).isEqualTo(ExitCode.REFUSED);
        assertThat(out.toString().lines().filter(line -> line.contains("job dead")))
                .hasSize(1_001);
        assertThat(run("alerts", "list", "--kind", "sms")).isZero();
    }

    @Test
    void alerts_are_taken_over_with_who_and_why() {
        open.add(new AlertDoor.OpenAlert(7, "job dead", "mail", 2, Instant.EPOCH, null, "no route"));

        assertThat(run("alerts", "ack", "7", "--why", "looking")).isZero();
        assertThat(done).containsExactly("7 tester looking");
        assertThat(run("alerts", "ack", "7", "--why", "looking")).isEqualTo(ExitCode.REFUSED);
        assertThat(run("alerts", "ack", "7")).isEqualTo(ExitCode.USAGE);
    }
}
