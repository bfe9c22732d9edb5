package io.rowlock.benchmark.run;

import java.util.Arrays;
import java.util.List;

/**
 * What one contender measured, run for run.
 *
 * @param contender who
 * @param values at least one, in the order of the runs
 */
public record Samples(Contender contender, List<Double> values) {
    public Samples {
        values = List.copyOf(values);
    }

    public double median() {
        double[] sorted = sorted();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    public double min() {
        return sorted()[0];
    }

    public double max() {
        double[] sorted = sorted();
        return sorted[sorted.length - 1];
    }

    private double[] sorted() {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
