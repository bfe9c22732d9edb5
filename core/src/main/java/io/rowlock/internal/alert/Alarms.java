package io.rowlock.internal.alert;

import io.rowlock.alert.AlertLimits;
import java.util.List;

/** What a Rowlock looks at, and the names of its sinks. */
public record Alarms(AlertLimits limits, List<String> sinks) {
    public Alarms {
        sinks = List.copyOf(sinks);
    }
}
