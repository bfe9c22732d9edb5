package io.rowlock.internal.alert;

import io.rowlock.alert.AlertLimits;
import java.time.Clock;
import java.util.List;

/** What a Rowlock looks at, the names of its sinks, and this node's clock, of which an alert may tell that it is wrong. */
public record Alarms(AlertLimits limits, List<String> sinks, Clock clock) {
    public Alarms {
        sinks = List.copyOf(sinks);
    }
}
