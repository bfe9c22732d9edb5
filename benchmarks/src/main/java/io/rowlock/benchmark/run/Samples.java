package io.rowlock.benchmark.run;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;

/**
 * What one contender measured, run for run.
 *
 * @param contender who
 * @param readings in the order of the runs; none if it was skipped
 * @param skipped why it was, if it was
 */
record Samples(Contender contender, List<Reading> readings, Optional<String> skipped) {
    Samples {
        readings = List.copyOf(readings);
    }

    double median() {
        return median(values());
    }

    double min() {
        return Arrays.stream(values()).min().orElse(Double.NaN);
    }

    double max() {
        return Arrays.stream(values()).max().orElse(Double.NaN);
    }

    /** The median of something else that was seen; NaN if it was not. */
    double median(String also) {
        return median(readings.stream()
                .map(each -> each.also().get(also))
                .filter(value -> value != null)
                .mapToDouble(Double::doubleValue)
                .toArray());
    }

    /** What else was seen. */
    Set<String> also() {
        Set<String> names = new TreeSet<>();
        readings.stream().map(each -> each.also().keySet()).forEach(names::addAll);
        return names;
    }

    /** The times of all runs together. */
    Optional<Histogram> histogram() {
        return readings.stream()
                .map(Reading::histogram)
                .flatMap(Optional::stream)
                .map(Histogram::copy)
                .reduce((all, each) -> {
                    all.add(each);
                    return all;
                });
    }

    private double[] values() {
        return readings.stream().mapToDouble(Reading::value).toArray();
    }

    private static double median(double[] values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The names of all that was seen beside the values of these. */
    static Set<String> also(Collection<Samples> all) {
        Set<String> names = new TreeSet<>();
        all.forEach(each -> names.addAll(each.also()));
        return names;
    }
}
