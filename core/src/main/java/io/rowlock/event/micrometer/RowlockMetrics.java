package io.rowlock.event.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.ClockCompared;
import io.rowlock.event.RowlockEvent.JobEvent;
import io.rowlock.event.RowlockEvent.JobsEnqueued;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.event.RowlockEvent.NamedLeaseReleased;
import io.rowlock.event.RowlockEvent.NamedLeaseTaken;
import io.rowlock.event.RowlockEvent.NotificationFailed;
import io.rowlock.event.RowlockEvent.PartAbandoned;
import io.rowlock.event.RowlockEvent.RequestRefused;
import io.rowlock.event.RowlockEvent.RequestReplayed;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.event.RowlockListener;
import io.rowlock.job.Enqueued;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times what happens, in a Micrometer registry: give it to {@code Rowlock.builder().listener(...)}, and a {@link
 * WorkerMetrics} for each worker, and {@link LeaseMetrics} for leases, to the registry. Meters are counted where the event is told, so that those of all processes
 * add up.
 *
 * <p>Those of jobs have the tags {@code queue} and {@code kind}, never an id, a subject or a key: {@code rowlock.job.enqueued}
 * (also tagged {@code duplicate}; transactions that rolled back are counted), {@code rowlock.job.wait} (due until its
 * handler began), {@code rowlock.job.duration} (tagged {@code result}: returned, failed, snoozed), {@code
 * rowlock.job.outcomes} (tagged {@code outcome}: completed, retried, died, snoozed, merged, handed_back), {@code
 * rowlock.job.timeouts}, {@code rowlock.job.lost} (leases), {@code rowlock.job.rescued}, {@code rowlock.job.cancelled}, {@code
 * rowlock.job.revived}. After 1,000 pairs of queue and kind
 * further ones are counted together, as {@code other}. Beside these are {@code rowlock.schedule.jobs} (tagged {@code
 * schedule}), {@code rowlock.clock.skew} (a gauge in seconds: by how much the clock of this process is ahead of the database's,
 * as a worker found last, about once a minute), {@code rowlock.requests.repeated} (tagged {@code result}: {@code replayed}, {@code
 * in_progress}, {@code different_request}, {@code answer_redacted}), {@code rowlock.leases.taken}, {@code .released} and {@code
 * .lost} (tagged {@code lease}: its name; of parts that of their partitions), {@code rowlock.parts.abandoned} (tagged {@code
 * partitions}), {@code rowlock.leader.sessions.lost} (tagged {@code leader}), {@code rowlock.loop.failures} (tagged {@code loop}), {@code rowlock.notification.failures}, and
 * {@code rowlock.events} (tagged {@code event}) for every other event there is.
 *
 * <p>Safe for use by many threads. Nothing of it outlives the process; after a crash the counters begin at zero.
 */
public final class RowlockMetrics implements RowlockListener {
    private static final int MOST = 1_000;
    private static final String OTHER = "other";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Lane, JobMeters> jobs = new ConcurrentHashMap<>();
    private final Map<Lane, Counter> others = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Double> skew = new AtomicReference<>();

    /** A queue and a kind; or a meter's name and the value of its tag. */
    private record Lane(String queue, String kind) {}

    /**
     * Meters without further tags.
     *
     * @param registry where they are registered, each when it is needed first
     */
    public RowlockMetrics(MeterRegistry registry) {
        this(registry, Tags.empty());
    }

    /**
     * Meters with further tags, such as the database's name where there are several.
     *
     * @param registry where they are registered, each when it is needed first
     * @param tags for all of them
     */
    public RowlockMetrics(MeterRegistry registry, Iterable<Tag> tags) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.tags = Tags.of(tags);
    }

    @Override
    public void on(RowlockEvent event) {
        if (event instanceof JobEvent of) {
            of(of.queue(), of.kind()).count(of);
        } else if (event instanceof JobsEnqueued enqueued) {
            for (Enqueued job : enqueued.jobs()) {
                of(job.queue(), job.kind()).count(job);
            }
        } else if (event instanceof ClockCompared compared) {
            clock(compared.ahead());
        } else if (event instanceof ScheduleFired fired) {
            counter("rowlock.schedule.jobs", "schedule", fired.schedule())
                    .increment(fired.jobs().size());
        } else if (event instanceof LoopFailed failed) {
            counter("rowlock.loop.failures", "loop", failed.loop()).increment();
        } else if (event instanceof RequestReplayed) {
            counter("rowlock.requests.repeated", "result", "replayed").increment();
        } else if (event instanceof RequestRefused refused) {
            counter("rowlock.requests.repeated", "result", result(refused.reason()))
                    .increment();
        } else if (event instanceof NamedLeaseTaken taken) {
            lease(taken.name(), "taken");
        } else if (event instanceof NamedLeaseReleased released) {
            lease(released.name(), "released");
        } else if (event instanceof NamedLeaseLost lost) {
            lease(lost.name(), "lost");
        } else if (event instanceof PartAbandoned abandoned) {
            counter("rowlock.parts.abandoned", "partitions", abandoned.partitions())
                    .increment();
        } else if (event instanceof LeaderSessionLost lost) {
            counter("rowlock.leader.sessions.lost", "leader", lost.name()).increment();
        } else if (event instanceof NotificationFailed) {
            counter("rowlock.notification.failures", "", "").increment();
        } else {
            counter("rowlock.events", "event", event.getClass().getSimpleName()).increment();
        }
    }

    /** Parts are counted together: there may be a thousand of them. */
    private void lease(String name, String what) {
        boolean part = name.startsWith("partition:") && name.indexOf('/') > 0;
        counter("rowlock.leases." + what, "lease", part ? name.substring(0, name.lastIndexOf('/')) : name)
                .increment();
    }

    private void clock(Duration ahead) {
        double seconds = ahead.toNanos() / 1e9;
        if (skew.getAndSet(seconds) == null) {
            Gauge.builder("rowlock.clock.skew", skew, each -> Objects.requireNonNullElse(each.get(), 0.0))
                    .description("By how much the clock of this process is ahead of the database's")
                    .baseUnit("seconds")
                    .tags(tags)
                    .strongReference(true)
                    .register(registry);
        }
    }

    private static String result(IdempotencyRefusedException.Reason reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }

    private JobMeters of(String queue, String kind) {
        Lane lane = new Lane(queue, kind);
        JobMeters known = jobs.get(lane);
        if (known != null) {
            return known;
        }
        Lane counted = jobs.size() < MOST ? lane : new Lane(OTHER, OTHER);
        return jobs.computeIfAbsent(
                counted, each -> new JobMeters(registry, tags.and("queue", each.queue(), "kind", each.kind())));
    }

    private Counter counter(String name, String tag, String value) {
        Lane lane = new Lane(name, value);
        Counter known = others.get(lane);
        if (known != null) {
            return known;
        }
        Lane counted = others.size() < MOST ? lane : new Lane(name, OTHER);
        return others.computeIfAbsent(
                counted, each -> registry.counter(name, tag.isEmpty() ? tags : tags.and(tag, each.kind())));
    }
}
