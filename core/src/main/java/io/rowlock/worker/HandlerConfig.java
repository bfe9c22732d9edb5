package io.rowlock.worker;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.DeathHook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How one kind's jobs are run. Filled in by the lambda of {@link WorkerConfig}'s handle methods; for one thread. */
public final class HandlerConfig {
    private @Nullable RetryPolicy retry;
    private @Nullable Duration timeout;
    private @Nullable Integer concurrency;
    private @Nullable DeathHook deathHook;
    private final List<PayloadUpcast> upcasts = new ArrayList<>();

    HandlerConfig() {}

    /**
     * Sets when and how often failed jobs are tried again.
     *
     * @param policy {@link RetryPolicy#standard()} if never set
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public HandlerConfig retry(RetryPolicy policy) {
        retry = once("retry", retry, policy);
        return this;
    }

    /**
     * Limits each attempt: then its thread is interrupted, its lease is taken away, and it is retried no earlier than
     * the lease would have ended. A thread that ignores the interrupt may overlap with the next attempt.
     *
     * @param limit 1 ms to 7 days; no limit by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public HandlerConfig timeout(Duration limit) {
        timeout = once("timeout", timeout, WorkerConfig.between("timeout", limit, 1, Duration.ofDays(7)));
        return this;
    }

    /**
     * Limits how many jobs of this kind the worker runs at once.
     *
     * @param most 1 to 10,000; by default only the queue's limit counts
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public HandlerConfig concurrency(int most) {
        concurrency = once("concurrency", concurrency, WorkerConfig.between("concurrency", most, 1, 10_000));
        return this;
    }

    /**
     * Calls this in the transaction in which a job of the kind becomes a dead letter.
     *
     * @param hook none by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public HandlerConfig onDeath(DeathHook hook) {
        deathHook = once("onDeath", deathHook, hook);
        return this;
    }

    /**
     * Says how the JSON of an older version of the payload becomes that of the next version. A job of version 1 goes through the
     * upcasts from 1, from 2 and so on, before it is read as the kind's type. They must lead without a gap to the kind's
     * version; those of the oldest versions may be left out when no such job is left. Called on the handler's thread, before
     * the transaction of a transactional handler begins. What it throws is as if the handler had
     * thrown it, and a version without an upcast is a failure: an attempt of that job alone, tried again by its policy.
     *
     * @param fromVersion the older version, from 1
     * @param json makes the next version's text of the older one's; used by many threads at once; none by default
     * @return this
     * @throws InvalidUseException if null; when the handler is given to the worker, if the kind's chain has a gap, two
     *     upcasts from one version, or one that leads beyond the kind's version
     */
    public HandlerConfig upcast(int fromVersion, UnaryOperator<String> json) {
        if (json == null) {
            throw new InvalidUseException("The upcast from version " + fromVersion + " must not be null");
        }
        upcasts.add(new PayloadUpcast.OfJson(fromVersion, json));
        return this;
    }

    /**
     * The same with objects: the codec reads the older payload and writes the next version's.
     *
     * @param fromVersion the older version, from 1
     * @param oldType a class that the older payload can be read as
     * @param payload makes a payload of the next version; used by many threads at once; must not give null
     * @param <O> the older payload
     * @return this
     * @throws InvalidUseException as the other does
     */
    public <O> HandlerConfig upcast(int fromVersion, Class<O> oldType, Function<O, ?> payload) {
        if (oldType == null || payload == null) {
            throw new InvalidUseException("The upcast from version " + fromVersion + " has null for "
                    + (oldType == null ? "the class" : "the function") + ": give one");
        }
        upcasts.add(new PayloadUpcast.OfType<>(fromVersion, oldType, payload));
        return this;
    }

    HandlerSettings settings(JobKind<?> kind) {
        upcasts.sort(Comparator.comparingInt(PayloadUpcast::fromVersion));
        List<String> mistakes = mistakes(kind.version());
        if (!mistakes.isEmpty()) {
            throw new InvalidUseException("The upcasts of kind " + kind.name() + " lead to no version " + kind.version()
                    + ": " + String.join("; ", mistakes));
        }
        return new HandlerSettings(
                retry == null ? RetryPolicy.standard() : retry, timeout, concurrency, deathHook, upcasts);
    }

    private List<String> mistakes(int version) {
        List<String> mistakes = new ArrayList<>();
        SortedSet<Integer> chain = new TreeSet<>();
        for (PayloadUpcast each : upcasts) {
            int from = each.fromVersion();
            if (from < 1 || from >= version) {
                mistakes.add("upcast must be from a version between 1 and the one before this, got " + from);
            } else if (!chain.add(from)) {
                mistakes.add("there are two upcasts from version " + from + ", keep one of them");
            }
        }
        if (!chain.isEmpty()) {
            IntStream.range(chain.first(), version)
                    .filter(from -> !chain.contains(from))
                    .forEach(from -> mistakes.add("there is no upcast from version " + from + ", add it"));
        }
        return mistakes;
    }

    private static <V> V once(String option, @Nullable V present, @Nullable V value) {
        if (value == null) {
            throw new InvalidUseException(option + " must not be null");
        }
        if (present != null) {
            throw new InvalidUseException(option + " is set twice for one handler");
        }
        return value;
    }
}
