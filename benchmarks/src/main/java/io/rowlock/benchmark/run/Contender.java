package io.rowlock.benchmark.run;

/**
 * One way to carry a load: a queue at its best documented setting, or Rowlock under one of two conditions that are compared.
 *
 * @param name its name in tables and plots
 * @param setting how it is set up, and what it guarantees less or more
 * @param measurement carries the load once, in a schema of its own
 */
public record Contender(String name, String setting, Measurement measurement) {

    /** Carries the load once. */
    @FunctionalInterface
    public interface Measurement {
        /**
         * Measures; what it prepares before is not in the value.
         *
         * @param trial where
         * @return the value, in the unit of its figure
         * @throws Exception if it cannot; the whole figure fails
         */
        double measure(Trial trial) throws Exception;
    }
}
