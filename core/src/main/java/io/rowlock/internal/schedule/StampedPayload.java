package io.rowlock.internal.schedule;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A schedule's payload with its version, in the one column there is: whoever fires the schedule may know another version of the
 * kind, or not know it at all. Stands there as it is when it has version 1, and else as
 * {@code {"rowlock-version":3,"payload":...}}.
 */
record StampedPayload(String json, int version) {
    private static final String BEGINNING = "{\"rowlock-version\":";
    private static final String MIDDLE = ",\"payload\":";
    private static final Pattern STAMPED =
            Pattern.compile(Pattern.quote(BEGINNING) + "(\\d{1,5})" + Pattern.quote(MIDDLE) + "(.*)}", Pattern.DOTALL);

    /** The column's text. One of version 1 that looks as if it were stamped is stamped too. */
    String column() {
        return version == 1 && !json.startsWith(BEGINNING) ? json : BEGINNING + version + MIDDLE + json + '}';
    }

    static StampedPayload read(String column) {
        Matcher stamped = STAMPED.matcher(column);
        return stamped.matches()
                ? new StampedPayload(stamped.group(2), Integer.parseInt(stamped.group(1)))
                : new StampedPayload(column, 1);
    }
}
