package io.rowlock.benchmark.run;

import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures figures: the contenders take turns, round after round, so that what the machine does beside them hits all of them.
 * A first round warms the JVM up and counts for nothing.
 */
final class Runs {
    private final TestPostgres postgres;
    private final int rounds;
    private final double scale;
    private final PrintWriter print;

    Runs(TestPostgres postgres, int rounds, double scale, PrintWriter print) {
        this.print = print;
        this.postgres = postgres;
        this.rounds = rounds;
        this.scale = scale;
    }

    Result measure(Figure figure) throws Exception {
        print.printf("%s: %s%n", figure.id(), figure.title());
        Map<Contender, List<Double>> values = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Contender contender : figure.contenders()) {
                double value = measure(figure, contender, round == 0 ? scale / 4 : scale);
                print.printf(
                        Locale.ROOT,
                        "  %s %-28s %,12.1f %s%n",
                        round == 0 ? "warm-up" : "run " + round,
                        contender.name(),
                        value,
                        figure.unit());
                print.flush();
                if (round > 0) {
                    values.computeIfAbsent(contender, first -> new ArrayList<>())
                            .add(value);
                }
            }
        }
        return new Result(
                figure,
                values.entrySet().stream()
                        .map(each -> new Samples(each.getKey(), each.getValue()))
                        .toList());
    }

    private double measure(Figure figure, Contender contender, double size) throws Exception {
        try (Trial trial = new Trial(TestSchema.create(postgres, figure.id()), size)) {
            return contender.measurement().measure(trial);
        }
    }
}
