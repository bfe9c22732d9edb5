package io.rowlock.hibernate;

import org.hibernate.event.spi.AutoFlushEvent;
import org.hibernate.event.spi.AutoFlushEventListener;
import org.hibernate.event.spi.FlushEvent;
import org.hibernate.event.spi.FlushEventListener;

/** Stands behind Hibernate's flush listener. */
final class FlushCloser implements FlushEventListener, AutoFlushEventListener {
    private static final long serialVersionUID = 1L;

    private final transient HibernateUnit unit;

    FlushCloser(HibernateUnit unit) {
        this.unit = unit;
    }

    @Override
    public void onFlush(FlushEvent event) {
        unit.flushEnds(event.getSession(), true);
    }

    /** Hibernate may have looked, and found that the query needs no flush. */
    @Override
    public void onAutoFlush(AutoFlushEvent event) {
        unit.flushEnds(event.getSession(), event.isFlushRequired());
    }
}
