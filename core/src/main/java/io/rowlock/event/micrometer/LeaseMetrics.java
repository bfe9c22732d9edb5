package io.rowlock.event.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.rowlock.lease.Leases;
import io.rowlock.lease.LeasesHealth;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * How the leases of this process are, as gauges: {@code rowlock.leases.up} (1 or 0), {@code rowlock.leases.held} (those of leaders
 * and parts too) and {@code rowlock.leases.loops.failing} (renewal, leaders, partitions). Asks {@link Leases#health} when the registry is
 * read, never the database. A registry holds the leases weakly, as gauges do. Immutable.
 */
public final class LeaseMetrics implements MeterBinder {
    private final Leases leases;
    private final Tags tags;

    /**
     * Gauges without tags.
     *
     * @param leases whose health is shown
     */
    public LeaseMetrics(Leases leases) {
        this(leases, Tags.empty());
    }

    /**
     * Gauges with tags, such as the database's name where there are several.
     *
     * @param leases whose health is shown
     * @param tags for all of them
     */
    public LeaseMetrics(Leases leases, Iterable<Tag> tags) {
        this.leases = Objects.requireNonNull(leases, "leases");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "up", "Whether no loop of the leases fails", health -> health.up() ? 1 : 0);
        gauge(registry, "held", "Leases that this process holds", LeasesHealth::held);
        gauge(
                registry,
                "loops.failing",
                "Loops whose last try failed",
                health -> health.loops().size());
    }

    private void gauge(MeterRegistry registry, String what, String description, ToDoubleFunction<LeasesHealth> value) {
        Gauge.builder("rowlock.leases." + what, leases, each -> value.applyAsDouble(each.health()))
                .description(description)
                .tags(tags)
                .register(registry);
    }
}
