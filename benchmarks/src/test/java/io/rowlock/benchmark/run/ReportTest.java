package io.rowlock.benchmark.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the pages say of what was measured. */
final class ReportTest {
    private static final Contender ROWLOCK =
            new Contender("Rowlock", "32 slots", trial -> 0).promising("at least once");
    private static final Contender PEER = new Contender("peer", "as its manual says", trial -> 0);

    @TempDir
    private Path folder;

    @Test
    void a_page_says_of_each_reach_plainly_whether_it_was_reached() throws Exception {
        write(
                List.of(
                        Reach.atLeast(10, "Rowlock", "peer"),
                        Reach.atLeast(2, "Rowlock", "peer"),
                        Reach.atMost(4, "peer")),
                samples(ROWLOCK, 30, 10, 20),
                samples(PEER, 4, 5, 6));

        assertThat(folder.resolve("figure.md"))
                .content()
                .contains("| Rowlock | 20.00 | 10.00 | 30.00 | 32 slots |")
                .contains("| Rowlock / peer | ≥ 10 | 4.00 | **missed** |")
                .contains("| Rowlock / peer | ≥ 2 | 4.00 | reached |")
                .contains("| peer | ≤ 4 | 5.00 | **missed** |")
                .contains("## What limits this figure\n\nThe disk.")
                .contains("| Rowlock | at least once |")
                .contains("- cores: 2");
    }

    @Test
    void who_was_skipped_is_named_with_the_reason_and_has_reached_nothing() throws Exception {
        Samples skipped = new Samples(PEER, List.of(), Optional.of("there is no npm"));
        write(List.of(Reach.atLeast(2, "Rowlock", "peer")), samples(ROWLOCK, 1), skipped);

        assertThat(folder.resolve("figure.md"))
                .content()
                .contains("| peer | skipped | | | skipped: there is no npm |")
                .contains("| Rowlock / peer | ≥ 2 |  | not measured |");
        assertThat(folder.resolve(Report.OVERVIEW))
                .content()
                .contains("Skipped in figure: peer, there is no npm.")
                .contains("| Rowlock / peer | ≥ 2 |  | not measured |")
                .contains("Failed, and not measured: other.");
    }

    @Test
    void what_else_was_seen_has_columns_and_may_be_what_is_to_be_reached() throws Exception {
        Histogram times = new Histogram(3);
        times.recordValue(1_500);
        Samples seen =
                new Samples(ROWLOCK, List.of(new Reading(1, Map.of("p99", 9.0), Optional.of(times))), Optional.empty());
        write(List.of(Reach.atMost(10, "Rowlock p99")), seen, samples(PEER, 1));

        assertThat(folder.resolve("figure.md"))
                .content()
                .contains("| who | median jobs/s | from | to | p99 | set up |")
                .contains("| Rowlock | 1.00 | 1.00 | 1.00 | 9.00 | 32 slots |")
                .contains("| Rowlock p99 | ≤ 10 | 9.00 | reached |");
        assertThat(folder.resolve("figure-histogram.svg")).content().startsWith("<svg");
    }

    @Test
    void a_reach_of_what_nobody_measured_is_a_mistake() {
        Result result = result(List.of(), samples(ROWLOCK, 1));
        assertThatThrownBy(() -> result.value(Reach.atMost(1, "Rowlock p98")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Rowlock p98");
    }

    private void write(List<Reach> reaches, Samples... samples) throws Exception {
        Result result = result(reaches, samples);
        Report report = new Report(folder, Map.of("Machine", Map.of("cores", "2")), "Measured on");
        report.write(result);
        report.write(List.of(result), List.of("other"));
    }

    private static Result result(List<Reach> reaches, Samples... samples) {
        List<Contender> contenders =
                Arrays.stream(samples).map(Samples::contender).toList();
        return new Result(
                new Figure("figure", "A figure", "jobs/s", contenders, reaches, "The disk."), List.of(samples));
    }

    private static Samples samples(Contender contender, double... values) {
        return new Samples(
                contender,
                Arrays.stream(values)
                        .mapToObj(value -> new Reading(value, Map.of(), Optional.empty()))
                        .toList(),
                Optional.empty());
    }
}
