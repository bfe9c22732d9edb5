package io.rowlock.internal.engine;

import io.rowlock.internal.alert.Alarms;
import io.rowlock.internal.sql.Names;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.HandlerInterceptor;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.spi.Waker;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What every worker of one Rowlock stands on: its database, the names there, the codec, what goes around each handler (the
 * outermost first), who is told of events, and what tells other processes of commits, or null; dueElsewhere tells all workers,
 * here and elsewhere, to look what has become due; wake tells them of jobs that have committed; alarms is what they look at,
 * and whom they tell of alerts.
 */
public record Ground(
        ConnectionSource connections,
        Names names,
        PayloadCodec codec,
        List<HandlerInterceptor> interceptors,
        Events events,
        @Nullable Notifier notifier,
        Runnable dueElsewhere,
        Waker wake,
        Alarms alarms) {}
