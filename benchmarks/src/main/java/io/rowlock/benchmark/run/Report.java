package io.rowlock.benchmark.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes a page for each figure, a plot beside it, and one page with all ratios. */
final class Report {
    private final Path folder;
    private final Map<String, String> machine;
    private final Map<String, String> settings;
    private final String how;

    /** @param how the size of the run, in words */
    Report(Path folder, Map<String, String> machine, Map<String, String> settings, String how) {
        this.folder = folder;
        this.machine = machine;
        this.settings = settings;
        this.how = how;
    }

    void write(Result result) throws IOException {
        Files.createDirectories(folder);
        Figure figure = result.figure();
        Files.writeString(folder.resolve(figure.id() + ".svg"), Plot.svg(result));
        StringBuilder page = new StringBuilder();
        line(page, "# " + figure.title());
        line(page, "");
        line(page, "![" + figure.title() + "](" + figure.id() + ".svg)");
        line(page, "");
        line(page, "| who | median " + figure.unit() + " | from | to | set up |");
        line(page, "|---|---:|---:|---:|---|");
        for (Samples each : result.samples()) {
            line(
                    page,
                    String.format(
                            Locale.ROOT,
                            "| %s | %s | %s | %s | %s |",
                            each.contender().name(),
                            number(each.median()),
                            number(each.min()),
                            number(each.max()),
                            each.contender().setting()));
        }
        if (!figure.reaches().isEmpty()) {
            line(page, "");
            line(page, "| ratio | to reach | measured |");
            line(page, "|---|---|---|");
            figure.reaches().forEach(reach -> line(page, "| " + ratio(result, reach) + " |"));
        }
        line(page, "");
        line(page, figure.limitedBy());
        line(page, "");
        line(page, how + " " + LocalDate.now(ZoneOffset.UTC) + ".");
        line(page, "");
        facts(page, machine);
        facts(page, settings);
        Files.writeString(folder.resolve(figure.id() + ".md"), page);
    }

    /** All ratios on one page. */
    void write(List<Result> results) throws IOException {
        StringBuilder page = new StringBuilder();
        line(page, "# Figures");
        line(page, "");
        line(
                page,
                "Made by `./bench`. Ratios of medians within one run; the pages behind them say how they were measured.");
        line(page, "");
        line(page, "| figure | ratio | to reach | measured |");
        line(page, "|---|---|---|---|");
        for (Result result : results) {
            String link = "[" + result.figure().title() + "](" + result.figure().id() + ".md)";
            for (Figure.Reach reach : result.figure().reaches()) {
                line(page, "| " + link + " | " + ratio(result, reach) + " |");
            }
        }
        Files.writeString(folder.resolve("README.md"), page);
    }

    private static String ratio(Result result, Figure.Reach reach) {
        double ratio = result.ratio(reach);
        return String.format(
                Locale.ROOT,
                "%s / %s | %s | %.2f%s",
                reach.of(),
                reach.by(),
                reach,
                ratio,
                reach.reached(ratio) ? "" : " **missed**");
    }

    private static void facts(StringBuilder page, Map<String, String> facts) {
        facts.forEach((name, value) -> line(page, "- " + name + ": " + value));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%,.2f" : "%,.0f", value);
    }

    private static void line(StringBuilder page, String line) {
        page.append(line).append('\n');
    }
}
