package io.rowlock.saga;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Durations as people write them: {@code 14 d}, {@code 1 h 30 min}. */
final class DurationText {
    private DurationText() {}

    static String of(Duration duration) {
        List<String> parts = new ArrayList<>();
        add(parts, duration.toDays(), "d");
        add(parts, duration.toHoursPart(), "h");
        add(parts, duration.toMinutesPart(), "min");
        add(parts, duration.toSecondsPart(), "s");
        add(parts, duration.toMillisPart(), "ms");
        return parts.isEmpty() ? "0 s" : String.join(" ", parts);
    }

    private static void add(List<String> parts, long number, String unit) {
        if (number != 0) {
            parts.add(number + " " + unit);
        }
    }
}
