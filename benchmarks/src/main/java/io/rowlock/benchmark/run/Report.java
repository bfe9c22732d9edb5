package io.rowlock.benchmark.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Writes a page for each figure, its plots beside it, and one page with all that was to be reached. */
final class Report {
    /** The page with all of them; {@code README.md} beside it is written by hand. */
    static final String OVERVIEW = "figures.md";

    private final Path folder;
    private final Map<String, Map<String, String>> facts;
    private final String how;

    /**
     * @param facts by heading: the machine, the versions, the server's settings
     * @param how the size of the run, in words
     */
    Report(Path folder, Map<String, Map<String, String>> facts, String how) {
        this.folder = folder;
        this.facts = facts;
        this.how = how;
    }

    void write(Result result) throws IOException {
        Files.createDirectories(folder);
        Figure figure = result.figure();
        Page page = new Page(figure.title());
        Files.writeString(folder.resolve(figure.id() + ".svg"), Plot.svg(result));
        page.line("![" + figure.title() + "](" + figure.id() + ".svg)");
        if (result.samples().stream().anyMatch(each -> each.histogram().isPresent())) {
            Files.writeString(folder.resolve(figure.id() + "-histogram.svg"), TimesPlot.svg(result));
            page.line("").line("![How many were how fast](" + figure.id() + "-histogram.svg)");
        }
        measured(page, result);
        reached(page, result);
        promised(page, figure);
        page.heading("What limits this figure").line(figure.limitedBy());
        page.heading("How it was measured").line(how + " " + LocalDate.now(ZoneOffset.UTC) + '.');
        facts.forEach((heading, each) -> {
            page.line("").line(heading + ":").line("");
            each.forEach((name, value) -> page.line("- " + name + ": " + value));
        });
        Files.writeString(folder.resolve(figure.id() + ".md"), page.text());
    }

    /** All that was to be reached, on one page, with what could not be measured. */
    void write(List<Result> results, List<String> failed) throws IOException {
        Page page = new Page("Figures");
        page.line(
                "Made by `./bench`. Medians of one run and their ratios; the pages behind them say how they were measured.");
        page.line("").line("| figure | of | to reach | measured | |").line("|---|---|---|---:|---|");
        for (Result result : results) {
            String link = "[" + result.figure().title() + "](" + result.figure().id() + ".md)";
            result.figure().reaches().forEach(reach -> page.line("| " + link + verdict(result, reach)));
            if (result.figure().reaches().isEmpty()) {
                page.line("| " + link + " | | nothing | | |");
            }
        }
        for (Result result : results) {
            for (Samples each : result.samples()) {
                each.skipped()
                        .ifPresent(reason -> page.line("")
                                .line("Skipped in " + result.figure().id() + ": "
                                        + each.contender().name() + ", " + reason + '.'));
            }
        }
        failed.forEach(id -> page.line("").line("Failed, and not measured: " + id + '.'));
        page.line("").line(how + " " + LocalDate.now(ZoneOffset.UTC) + '.');
        Files.writeString(folder.resolve(OVERVIEW), page.text());
    }

    private static void measured(Page page, Result result) {
        Set<String> also = Samples.also(result.samples());
        StringBuilder names = new StringBuilder();
        also.forEach(name -> names.append(' ').append(name).append(" |"));
        page.line("").line("| who | median " + result.figure().unit() + " | from | to |" + names + " set up |");
        page.line("|---|---:|---:|---:|" + "---:|".repeat(also.size()) + "---|");
        for (Samples each : result.samples()) {
            String who = "| " + each.contender().name() + " | ";
            if (each.skipped().isPresent()) {
                page.line(who + "skipped | | |" + " |".repeat(also.size()) + " skipped: "
                        + each.skipped().get() + " |");
                continue;
            }
            StringBuilder line = new StringBuilder(
                    who + number(each.median()) + " | " + number(each.min()) + " | " + number(each.max()) + " |");
            also.forEach(name -> line.append(' ')
                    .append(each.also().contains(name) ? number(each.median(name)) : "")
                    .append(" |"));
            page.line(line + " " + each.contender().setting() + " |");
        }
    }

    private static void reached(Page page, Result result) {
        if (!result.figure().reaches().isEmpty()) {
            page.line("").line("| of | to reach | measured | |").line("|---|---|---:|---|");
            result.figure()
                    .reaches()
                    .forEach(reach -> page.line(verdict(result, reach).stripLeading()));
        }
    }

    private static void promised(Page page, Figure figure) {
        if (figure.contenders().stream().anyMatch(each -> !each.promise().isEmpty())) {
            page.heading("What each guarantees").line("| who | guarantees |").line("|---|---|");
            figure.contenders().stream()
                    .filter(each -> !each.promise().isEmpty())
                    .forEach(each -> page.line("| " + each.name() + " | " + each.promise() + " |"));
        }
    }

    private static String verdict(Result result, Reach reach) {
        double value = result.value(reach);
        String verdict = reach.verdict(value);
        return " | " + reach.subject() + " | " + reach.wanted() + " | " + (Double.isNaN(value) ? "" : number(value))
                + " | " + (verdict.equals("missed") ? "**missed**" : verdict) + " |";
    }

    static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < 100 ? "%,.2f" : "%,.0f", value);
    }

    /** Markdown, line by line. */
    private static final class Page {
        private final StringBuilder text = new StringBuilder();

        Page(String title) {
            line("# " + title).line("");
        }

        Page line(String line) {
            text.append(line).append('\n');
            return this;
        }

        Page heading(String heading) {
            return line("").line("## " + heading).line("");
        }

        String text() {
            return text.toString();
        }
    }
}
