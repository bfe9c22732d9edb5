package io.rowlock.benchmark.run;

/**
 * One way to carry a load: a queue at its best documented setting, or Rowlock under one of two conditions that are compared.
 *
 * @param name its name in tables and plots
 * @param setting how it is set up
 * @param promise what it guarantees less or more than the others; empty where it makes no difference
 * @param measurement carries the load once, in a schema of its own
 */
public record Contender(String name, String setting, String promise, Measurement measurement) {

    /** One whose guarantees are those of the others. */
    public Contender(String name, String setting, Measurement measurement) {
        this(name, setting, "", measurement);
    }

    /** The same, with what it guarantees. */
    public Contender promising(String guarantees) {
        return new Contender(name, setting, guarantees, measurement);
    }

    /** The same, not measured. */
    Contender skippedFor(String reason) {
        return new Contender(name, setting, promise, trial -> {
            throw new Skipped(reason);
        });
    }

    /** Carries the load once. */
    @FunctionalInterface
    public interface Measurement {
        /**
         * Measures; what it prepares before is not in the value.
         *
         * @param trial where, and where to tell what else was seen
         * @return the value, in the unit of its figure
         * @throws Skipped if this machine lacks what it needs; the others are measured all the same
         * @throws Exception if it cannot; the whole figure fails
         */
        double measure(Trial trial) throws Exception;
    }
}
