package io.rowlock.worker;

import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.DeathHook;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one kind's jobs are run, as {@link HandlerConfig} said.
 *
 * @param retry when failed jobs are tried again
 * @param timeout the limit of one attempt, or null
 * @param concurrency how many run at once in this worker, or null: as the queue allows
 * @param deathHook called in the transaction of a death, or null
 * @param upcasts one for each older version that can be read, in their order, the last from the version before the kind's
 */
public record HandlerSettings(
        RetryPolicy retry,
        @Nullable Duration timeout,
        @Nullable Integer concurrency,
        @Nullable DeathHook deathHook,
        List<PayloadUpcast> upcasts) {

    public HandlerSettings {
        upcasts = List.copyOf(upcasts);
    }
}
