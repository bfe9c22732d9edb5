package io.rowlock.benchmark.run;

import java.util.List;
import java.util.Optional;

/**
 * A figure: a load that several contenders carry in turn, and what is to be reached between them.
 *
 * @param id its name on the command line and of its files
 * @param title what is measured
 * @param unit the unit of all values
 * @param contenders who carries it; the first one is Rowlock as it is
 * @param reaches the ratios to be reached
 * @param limitedBy what limits it, for the reader of the table
 */
public record Figure(
        String id, String title, String unit, List<Contender> contenders, List<Reach> reaches, String limitedBy) {

    public Figure {
        contenders = List.copyOf(contenders);
        reaches = List.copyOf(reaches);
    }

    /**
     * A ratio of medians to be reached.
     *
     * @param of whose median is divided
     * @param by whose median divides
     * @param least at least this, or empty
     * @param most at most this, or empty
     */
    public record Reach(String of, String by, Optional<Double> least, Optional<Double> most) {
        public static Reach atLeast(double least, String of, String by) {
            return new Reach(of, by, Optional.of(least), Optional.empty());
        }

        public static Reach atMost(double most, String of, String by) {
            return new Reach(of, by, Optional.empty(), Optional.of(most));
        }

        public boolean reached(double ratio) {
            return least.map(bound -> ratio >= bound).orElse(true)
                    && most.map(bound -> ratio <= bound).orElse(true);
        }

        @Override
        public String toString() {
            return least.map(bound -> "≥ " + bound).orElseGet(() -> "≤ " + most.orElseThrow()) + " × " + by;
        }
    }
}
