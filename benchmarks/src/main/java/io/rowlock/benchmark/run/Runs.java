package io.rowlock.benchmark.run;

import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Measures figures: the contenders take turns, round after round, so that what the machine does beside them hits all of them.
 * A first round warms the JVM up and counts for nothing.
 */
final class Runs {
    private static final double WARM_UP = 0.25;

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
        print.flush();
        Map<Contender, List<Reading>> readings = new LinkedHashMap<>();
        Map<Contender, String> skipped = new LinkedHashMap<>();
        figure.contenders().forEach(each -> readings.put(each, new ArrayList<>()));
        for (int round = figure.warmsUp() ? 0 : 1; round <= rounds; round++) {
            for (Contender contender : figure.contenders()) {
                if (skipped.containsKey(contender)) {
                    continue;
                }
                try {
                    Reading reading = measure(figure, contender, round == 0 ? scale * WARM_UP : scale);
                    tell(figure, round, contender, reading);
                    if (round > 0) {
                        readings.getOrDefault(contender, List.of()).add(reading);
                    }
                } catch (Skipped e) {
                    skipped.put(contender, e.reason());
                    print.printf("  skipped %s: %s%n", contender.name(), e.reason());
                }
            }
        }
        return new Result(
                figure,
                readings.entrySet().stream()
                        .map(each -> new Samples(
                                each.getKey(), each.getValue(), Optional.ofNullable(skipped.get(each.getKey()))))
                        .toList());
    }

    private void tell(Figure figure, int round, Contender contender, Reading reading) {
        print.printf(
                Locale.ROOT,
                "  %s %-40s %,12.2f %s%s%n",
                round == 0 ? "warm-up" : "run " + round,
                contender.name(),
                reading.value(),
                figure.unit(),
                also(reading));
        print.flush();
    }

    private static String also(Reading reading) {
        return new TreeMap<>(reading.also())
                .entrySet().stream()
                        .map(each -> ", " + each.getKey() + ' ' + Report.number(each.getValue()))
                        .collect(Collectors.joining());
    }

    private Reading measure(Figure figure, Contender contender, double size) throws Exception {
        try (Trial trial = new Trial(TestSchema.create(postgres, figure.id()), size)) {
            return trial.reading(contender.measurement().measure(trial));
        }
    }
}
