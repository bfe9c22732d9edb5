package io.rowlock.fault;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Every event of a Rowlock, in the order told. */
final class Heard implements RowlockListener {
    private final List<RowlockEvent> events = new CopyOnWriteArrayList<>();

    @Override
    public void on(RowlockEvent event) {
        events.add(event);
    }

    <E extends RowlockEvent> List<E> of(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
