package io.rowlock.benchmark.run;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
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
            "A full run takes hours and wants a machine of its own; --short takes some minutes and shows the order of things.",
            "Exit code: 0 if all was measured, whether reached or not; 1 if something failed; 2 for wrong usage."
        })
public final class Bench implements Callable<Integer> {
    private static final double SHORT = 0.1;

    private final List<Figure> figures;

    @Option(names = "--short", description = "A tenth of the load, one run each.")
    private boolean brief;

    @Option(names = "--runs", paramLabel = "N", description = "How often each contender runs; 5 by default.")
    private int runs;

    @Option(names = "--only", paramLabel = "FIGURE", split = ",", description = "Only these figures, see --list.")
    private List<String> only = List.of();

    @Option(names = "--list", description = "List the figures and measure nothing.")
    private boolean list;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "Where pages and plots are written; docs/benchmarks by default, nowhere in a short run.")
    private Path out = Path.of("docs/benchmarks");

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
        int rounds = runs > 0 ? runs : brief ? 1 : 5;
        double scale = brief ? SHORT : 1;
        try (Server server = new Server()) {
            print.println(server.settings());
            Report report = new Report(
                    out,
                    Machine.facts(),
                    server.settings(),
                    "Medians of " + rounds + " alternating runs behind one that warms up, measured on");
            Runs all = new Runs(server.postgres(), rounds, scale, print);
            List<Result> results = new ArrayList<>();
            for (Figure figure : chosen) {
                Result result = all.measure(figure);
                results.add(result);
                tell(print, result);
                if (!brief) {
                    report.write(result);
                }
            }
            if (!brief && only.isEmpty()) {
                report.write(results);
            }
        }
        return 0;
    }

    private List<Figure> chosen() {
        List<String> known = figures.stream().map(Figure::id).toList();
        for (String id : only) {
            if (!known.contains(id)) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "There is no figure " + id + "; there are " + String.join(", ", known));
            }
        }
        return figures.stream()
                .filter(each -> only.isEmpty() || only.contains(each.id()))
                .toList();
    }

    private static void tell(PrintWriter print, Result result) {
        for (Samples each : result.samples()) {
            print.printf(
                    Locale.ROOT,
                    "  %-28s %,14.2f %s (%,.2f to %,.2f)%n",
                    each.contender().name(),
                    each.median(),
                    result.figure().unit(),
                    each.min(),
                    each.max());
        }
        for (Figure.Reach reach : result.figure().reaches()) {
            double ratio = result.ratio(reach);
            print.printf(
                    Locale.ROOT,
                    "  %s %s: %.2f %s%n",
                    reach.of(),
                    reach,
                    ratio,
                    reach.reached(ratio) ? "reached" : "MISSED");
        }
        print.flush();
    }
}
