package io.rowlock.testkit.cost;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the work of one scene cost. Immutable.
 *
 * @param scene a name, such as {@code claim}
 * @param units how many it was done for, such as 200, at least 1
 * @param unit what these are, such as {@code jobs}
 * @param counts what was counted for all units together, by name: {@link #ROUND_TRIPS}, {@link #STATEMENTS}, {@link #UPDATES},
 *     {@link #COLD_UPDATES}, {@link #BUFFERS}, {@link #WAL}; then for each statement, sorted, its calls, buffers and bytes
 */
public record Cost(String scene, long units, String unit, Map<String, Long> counts) {
    /** How often the client waited for the server. */
    public static final String ROUND_TRIPS = "round trips";

    /** Statements that the server ran, {@code BEGIN} and {@code COMMIT} among them. */
    public static final String STATEMENTS = "statements";

    /** Versions of rows that updates wrote. */
    public static final String UPDATES = "updates";

    /** Those of them for which every index got an entry: they were not HOT. */
    public static final String COLD_UPDATES = "updates, not HOT";

    /** Pages of tables and indexes that were looked at, in memory or not; a page that is looked at twice counts twice. */
    public static final String BUFFERS = "buffers";

    /** How far the write-ahead log went on, commits included. */
    public static final String WAL = "WAL bytes";

    static final String CALLS = "calls";

    /** Copies the map, in its order. */
    public Cost {
        counts = Collections.unmodifiableMap(new LinkedHashMap<>(counts));
    }

    /**
     * What the further units of a larger scene cost: of ten steps instead of five, the five, without what surrounds them.
     *
     * @param smaller a scene that differs in nothing but the number of these units
     * @param name of the scene that is left
     * @param more how many units there are more, at least 1
     * @param unit what they are
     * @return the difference of all counts; of statements, those of which there are more calls
     */
    public Cost beyond(Cost smaller, String name, long more, String unit) {
        Map<String, Long> rest = new LinkedHashMap<>();
        counts.forEach((count, here) -> {
            int statement = count.lastIndexOf(", ");
            String calls = of(statement < 0 ? count : count.substring(0, statement), CALLS);
            long moreCalls = counts.getOrDefault(calls, 1L) - smaller.counts.getOrDefault(calls, 0L);
            if (moreCalls > 0) {
                rest.put(count, here - smaller.counts.getOrDefault(count, 0L));
            }
        });
        return new Cost(name, more, unit, rest);
    }

    /** The name of a count of one statement. */
    static String of(String statement, String count) {
        return statement + ", " + count;
    }
}
