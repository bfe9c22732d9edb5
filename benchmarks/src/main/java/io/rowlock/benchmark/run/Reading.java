package io.rowlock.benchmark.run;

import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * What one run of a contender gave.
 *
 * @param value in the unit of the figure
 * @param also what else was seen, by name
 * @param histogram of single times in microseconds, where they were recorded
 */
record Reading(double value, Map<String, Double> also, Optional<Histogram> histogram) {}
