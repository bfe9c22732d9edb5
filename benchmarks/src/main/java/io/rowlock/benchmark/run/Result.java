package io.rowlock.benchmark.run;

import java.util.List;

/**
 * A figure, measured.
 *
 * @param figure what
 * @param samples of each contender, in their order
 */
record Result(Figure figure, List<Samples> samples) {
    Result {
        samples = List.copyOf(samples);
    }

    /** The median of which a reach speaks, or the ratio of two; NaN if one of them was skipped. */
    double value(Reach reach) {
        double of = median(reach.of());
        return reach.by().map(other -> of / median(other)).orElse(of);
    }

    private double median(String name) {
        for (Samples each : samples) {
            String contender = each.contender().name();
            if (name.equals(contender)) {
                return each.median();
            }
            if (name.startsWith(contender + ' ')
                    && (each.skipped().isPresent() || each.also().contains(name.substring(contender.length() + 1)))) {
                return each.median(name.substring(contender.length() + 1));
            }
        }
        throw new IllegalArgumentException(figure.id() + " has measured no " + name);
    }
}
