package io.rowlock.benchmark.run;

import java.util.List;

/**
 * A figure, measured.
 *
 * @param figure what
 * @param samples of each contender, in their order
 */
public record Result(Figure figure, List<Samples> samples) {
    public Result {
        samples = List.copyOf(samples);
    }

    /** The median of a contender. */
    public double median(String contender) {
        return samples.stream()
                .filter(each -> each.contender().name().equals(contender))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(figure.id() + " has no contender " + contender))
                .median();
    }

    /** The ratio of which a reach speaks. */
    public double ratio(Figure.Reach reach) {
        return median(reach.of()) / median(reach.by());
    }
}
