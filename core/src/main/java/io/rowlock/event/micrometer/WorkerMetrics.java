package io.rowlock.event.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth;
import java.time.Duration;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * How a worker is, as gauges tagged {@code worker}: {@code rowlock.worker.up} (1 or 0), {@code rowlock.worker.running}
 * (handlers), {@code rowlock.worker.unrecorded} (outcomes that wait to be written), {@code rowlock.worker.loops.failing} and
 * {@code rowlock.worker.claim.age} (seconds since the database answered a claim last; not a number before it ever did). Asks
 * the worker when the registry is read, never the database. A registry holds the worker weakly, as gauges do; one that has
 * stopped is not up. Immutable.
 */
public final class WorkerMetrics implements MeterBinder {
    private final String name;
    private final Worker worker;
    private final Tags tags;

    /**
     * Gauges without further tags.
     *
     * @param name the tag's value: the same after each start, and another for each worker of the process; never {@link
     *     Worker#id()}, which is new with each start
     * @param worker whose health is shown
     */
    public WorkerMetrics(String name, Worker worker) {
        this(name, worker, Tags.empty());
    }

    /**
     * Gauges with further tags.
     *
     * @param name the tag's value: the same after each start, and another for each worker of the process
     * @param worker whose health is shown
     * @param tags for all of them
     */
    public WorkerMetrics(String name, Worker worker, Iterable<Tag> tags) {
        this.name = Objects.requireNonNull(name, "name");
        this.worker = Objects.requireNonNull(worker, "worker");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "up", "Whether the worker does its work", health -> health.up() ? 1 : 0);
        gauge(registry, "running", "Handlers that run", WorkerHealth::running);
        gauge(registry, "unrecorded", "Outcomes that wait to be written", WorkerHealth::unrecorded);
        gauge(
                registry,
                "loops.failing",
                "Loops of the engine whose last try failed",
                health -> health.loops().size());
        Gauge.builder("rowlock.worker.claim.age", worker, each -> age(each.health()))
                .description("How long ago the database answered a claim")
                .baseUnit("seconds")
                .tags(tags.and("worker", name))
                .register(registry);
    }

    private static double age(WorkerHealth health) {
        Duration since = health.sinceClaim();
        return since == null ? Double.NaN : since.toNanos() / 1e9;
    }

    private void gauge(MeterRegistry registry, String what, String description, ToDoubleFunction<WorkerHealth> value) {
        Gauge.builder("rowlock.worker." + what, worker, each -> value.applyAsDouble(each.health()))
                .description(description)
                .tags(tags.and("worker", name))
                .register(registry);
    }
}
