package io.rowlock.benchmark.run;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command: measures figures on a PostgreSQL of its own, prints them, and writes pages and plots. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measures Rowlock beside its peers, in one run on one PostgreSQL of its own.",
        footer = {
            "",
            "A full run takes more than an hour and wants a machine of its own; --short takes about five minutes and shows the",
            "order of things. graphile-worker is fetched with npm where there is Node, and named as skipped where there is none.",
            "Exit code: 0 if all was measured, whether reached or not; 1 if something failed; 2 for wrong usage."
        })
public final class Bench implements Callable<Integer> {
    private static final double SHORT = 0.1;

    private final List<Figure> figures;

    @Option(names = "--short", description = "A tenth of the load, one run each.")
    private boolean brief;

    @Option(names = "--runs", paramLabel = "N", description = "How often each contender runs; 5 by default.")
    private int runs;

    @Option(names = "--size", paramLabel = "SHARE", description = "Of the load; 1 by default, 0.1 in a short run.")
    private double size;

    @Option(names = "--only", paramLabel = "FIGURE", split = ",", description = "Only these figures, see --list.")
    private List<String> only = List.of();

    @Option(
            names = "--skip",
            paramLabel = "WHO",
            split = ",",
            description = "Do not measure these, for example graphile-worker; the pages name them as skipped.")
    private List<String> skip = List.of();

    @Option(names = "--list", description = "List the figures and measure nothing.")
    private boolean list;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description =
                    "Where pages and plots are written; docs/benchmarks by default, nowhere by default with less than the load.")
    private @Nullable Path folder;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
    private CommandSpec spec;

    private Bench(List<Figure> figures) {
        this.figures = figures;
    }

    /** Runs the command; gives its exit code. */
    public static int run(List<Figure> figures, String... arguments) {
        return new CommandLine(new Bench(figures)).execute(arguments);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter print = spec.commandLine().getOut();
        if (list) {
            figures.forEach(each -> print.println(each.id() + ": " + each.title()));
            return 0;
        }
        List<Figure> chosen = chosen();
        List<String> failed = new ArrayList<>();
        int rounds = runs > 0 ? runs : brief ? 1 : 5;
        double scale = size > 0 ? size : brief ? SHORT : 1;
        boolean written = scale >= 1 || folder != null;
        Path out = folder == null ? Path.of("docs/benchmarks") : folder;
        try (Server server = new Server()) {
            print.println(server.settings());
            Map<String, Map<String, String>> facts = new LinkedHashMap<>();
            facts.put("Machine", Machine.facts());
            facts.put("Versions", Machine.versions());
            facts.put("Settings of PostgreSQL", server.settings());
            Report report = new Report(out, facts, how(rounds, scale));
            Runs all = new Runs(server.postgres(), rounds, scale, print);
            List<Result> results = new ArrayList<>();
            for (Figure figure : chosen) {
                try {
                    Result result = all.measure(figure);
                    results.add(result);
                    tell(print, result);
                    if (written) {
                        report.write(result);
                    }
                } catch (Exception e) { // the others are measured all the same
                    failed.add(figure.id());
                    e.printStackTrace(spec.commandLine().getErr());
                }
            }
            if (written && only.isEmpty()) {
                report.write(results, failed);
            }
        }
        failed.forEach(each -> print.println("FAILED: " + each));
        return failed.isEmpty() ? 0 : 1;
    }

    private static String how(int rounds, double scale) {
        String small = scale < 1 ? "A small load (" + scale + "): no figure, only the order of things. " : "";
        return small + "Medians of " + rounds
                + " alternating runs, behind one of a quarter of the size that warms up where a measurement does not do so"
                + " by itself, measured on";
    }

    private List<Figure> chosen() {
        checkWhomToSkip();
        List<String> known = figures.stream().map(Figure::id).toList();
        for (String id : only) {
            if (!known.contains(id)) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "There is no figure " + id + "; there are " + String.join(", ", known));
            }
        }
        return figures.stream()
                .filter(each -> only.isEmpty() || only.contains(each.id()))
                .map(this::withoutWhomToSkip)
                .toList();
    }

    private void checkWhomToSkip() {
        List<String> known = figures.stream()
                .flatMap(figure -> figure.contenders().stream())
                .map(Contender::name)
                .distinct()
                .toList();
        for (String name : skip) {
            if (!known.contains(name)) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "Nobody is called " + name + "; there are " + String.join(", ", known));
            }
        }
    }

    private Figure withoutWhomToSkip(Figure figure) {
        return figure.with(figure.contenders().stream()
                .map(each -> skip.contains(each.name()) ? each.skippedFor("not asked for on the command line") : each)
                .toList());
    }

    private static void tell(PrintWriter print, Result result) {
        for (Samples each : result.samples()) {
            String name = each.contender().name();
            if (each.skipped().isPresent()) {
                print.printf("  %-40s skipped: %s%n", name, each.skipped().get());
            } else {
                print.printf(
                        Locale.ROOT,
                        "  %-40s %,14.2f %s (%,.2f to %,.2f)%n",
                        name,
                        each.median(),
                        result.figure().unit(),
                        each.min(),
                        each.max());
            }
        }
        for (Reach reach : result.figure().reaches()) {
            double value = result.value(reach);
            print.printf(
                    "  %s %s: %s, %s%n", reach.subject(), reach.wanted(), Report.number(value), reach.verdict(value));
        }
        print.flush();
    }
}
