package io.rowlock.benchmark.run;

import java.util.Locale;
import java.util.Optional;

/**
 * What is to be reached: a bound of a value, or of the ratio of two values of one run.
 *
 * @param of whose value: a contender, or a contender, a blank and the name of what else was seen of it
 * @param by by whose value it is divided; empty for a bound of the value itself
 * @param bound the bound
 * @param least true if the bound is to be met or surpassed, false if it must not be surpassed
 */
public record Reach(String of, Optional<String> by, double bound, boolean least) {

    /** A ratio of medians that is to be met or surpassed. */
    public static Reach atLeast(double bound, String of, String by) {
        return new Reach(of, Optional.of(by), bound, true);
    }

    /** A ratio of medians that must not be surpassed. */
    public static Reach atMost(double bound, String of, String by) {
        return new Reach(of, Optional.of(by), bound, false);
    }

    /** A median that must not be surpassed. */
    public static Reach atMost(double bound, String of) {
        return new Reach(of, Optional.empty(), bound, false);
    }

    /** Whether this value, or ratio, is what was to be reached; what was not measured has not reached anything. */
    public boolean reached(double value) {
        return least ? value >= bound : value <= bound;
    }

    /** What is measured, in words. */
    String subject() {
        return by.map(other -> of + " / " + other).orElse(of);
    }

    /** What is to be reached, in signs. */
    String wanted() {
        String sign = least ? "≥ " : "≤ ";
        String number = bound == Math.rint(bound)
                ? String.format(Locale.ROOT, "%,.0f", bound)
                : String.format(Locale.ROOT, "%.2f", bound);
        return sign + number;
    }

    /** The answer, in one word. */
    String verdict(double value) {
        return Double.isNaN(value) ? "not measured" : reached(value) ? "reached" : "missed";
    }
}
