package io.rowlock.benchmark.run;

import java.util.List;

public final class Command {
    private Command() {}

    public static void run(List<Figure> figures, int rounds, double scale) throws Exception {
        try (Server server = new Server()) {
            System.out.println(server.settings());
            Runs runs = new Runs(server.postgres(), rounds, scale);
            for (Figure figure : figures) {
                Result result = runs.measure(figure);
                for (Samples each : result.samples()) {
                    System.out.printf("  %-28s %,12.1f (%,.1f to %,.1f)%n", each.contender().name(), each.median(), each.min(), each.max());
                }
                for (Figure.Reach reach : figure.reaches()) {
                    double ratio = result.ratio(reach);
                    System.out.printf("  %s %s: %.2f %s%n", reach.of(), reach, ratio, reach.reached(ratio) ? "reached" : "MISSED");
                }
            }
        }
    }
}
