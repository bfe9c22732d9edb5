package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockListener;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners what happened. What they throw, even an Error, goes no further (promise P10). */
public final class Events {
    private static final Logger LOG = LoggerFactory.getLogger(Events.class);
    private final List<RowlockListener> listeners;

    public Events(List<RowlockListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    /** The same, and more of them. */
    Events and(List<RowlockListener> more) {
        return new Events(Stream.concat(listeners.stream(), more.stream()).toList());
    }

    /** Whether anybody listens: else an event need not be made. */
    boolean areHeard() {
        return !listeners.isEmpty();
    }

    public void tell(RowlockEvent event) {
        for (RowlockListener listener : listeners) {
            try {
                listener.on(event);
            } catch (Throwable thrown) {
                Described.quietly(() -> LOG.error(
                        "A listener threw; its event is lost to it, nothing else (listener={}, event={})",
                        listener.getClass().getName(),
                        event.getClass().getSimpleName(),
                        thrown));
            }
        }
    }
}
