package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often and how late a failed job is tried again. Immutable: each method returns a changed copy. Safe for use by
 * many threads.
 *
 * @param backoff the delay after each failed attempt, before jitter
 * @param maxAttempts after how many attempts the job is dead, 1 to 1,000,000; default 50
 * @param jitter by what share each delay is varied up or down, 0 to 1; default 0.1
 * @param never throwables after which the job is dead at once, subclasses included
 */
public record RetryPolicy(Backoff backoff, int maxAttempts, double jitter, List<Class<? extends Throwable>> never) {
    private static final Duration USUAL_CAP = Duration.ofMinutes(30);
    private static final Duration ENDLESS = Duration.ofHours(1);

    public RetryPolicy {
        if (backoff == null) {
            throw new InvalidUseException("A retry policy needs a backoff, got null");
        }
        if (maxAttempts < 1 || maxAttempts > 1_000_000) {
            throw new InvalidUseException("maxAttempts must be between 1 and 1000000, got " + maxAttempts);
        }
        if (!(jitter >= 0 && jitter <= 1)) {
            throw new InvalidUseException("jitter must be between 0 and 1, got " + jitter);
        }
        if (never == null || never.stream().anyMatch(Objects::isNull)) {
            throw new InvalidUseException("neverOn must not be null");
        }
        never = List.copyOf(never);
    }

    /**
     * The policy of a handler that names none: 30 s doubled each time up to 30 min, jitter 10 %, 50 attempts; about a
     * day.
     *
     * @return the default
     */
    public static RetryPolicy standard() {
        return exponential(Duration.ofSeconds(30));
    }

    /**
     * Doubles the delay after each failure, up to 30 minutes, or the first delay where that is longer, unless {@link #max}
     * says otherwise.
     *
     * @param first the delay after the first failure, 1 ms to 100 years
     * @return a policy of 50 attempts with 10 % jitter
     * @throws InvalidUseException if the delay is out of range
     */
    public static RetryPolicy exponential(Duration first) {
        Duration checked = positive("first", first);
        return policy(new Exponential(checked, checked.compareTo(USUAL_CAP) > 0 ? checked : USUAL_CAP));
    }

    /**
     * Waits the same each time.
     *
     * @param delay 0 to 100 years
     * @return a policy of 50 attempts with 10 % jitter
     * @throws InvalidUseException if the delay is out of range
     */
    public static RetryPolicy fixed(Duration delay) {
        Duration checked = Delays.checked("delay", delay);
        return policy((attempt, error) -> checked);
    }

    /**
     * Waits as the function says.
     *
     * @param backoff the function; one that throws counts as a delay of one hour
     * @return a policy of 50 attempts with 10 % jitter
     * @throws InvalidUseException if null
     */
    public static RetryPolicy custom(Backoff backoff) {
        return policy(backoff);
    }

    private static RetryPolicy policy(Backoff backoff) {
        return new RetryPolicy(backoff, 50, 0.1, List.of());
    }

    /**
     * Caps the delays of an exponential policy.
     *
     * @param longest the longest delay before jitter, 1 ms to 100 years, no less than the first delay
     * @return the changed copy
     * @throws InvalidUseException if out of range or below the first delay, or if this policy is not exponential
     */
    public RetryPolicy max(Duration longest) {
        if (!(backoff instanceof Exponential exponential)) {
            throw new InvalidUseException("max caps the delays of an exponential policy only");
        }
        Duration cap = positive("max", longest);
        if (cap.compareTo(exponential.first()) < 0) {
            throw new InvalidUseException(
                    "max must be at least the first delay of " + exponential.first() + ", got " + longest);
        }
        return new RetryPolicy(new Exponential(exponential.first(), cap), maxAttempts, jitter, never);
    }

    /**
     * Changes the limit of attempts.
     *
     * @param attempts 1 to 1,000,000
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public RetryPolicy maxAttempts(int attempts) {
        return new RetryPolicy(backoff, attempts, jitter, never);
    }

    /**
     * Changes the jitter.
     *
     * @param share 0 (none) to 1
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public RetryPolicy jitter(double share) {
        return new RetryPolicy(backoff, maxAttempts, share, never);
    }

    /**
     * Names throwables that no retry can cure: the job is dead at once. An attempt that took longer than its handler's
     * timeout counts as a {@link java.util.concurrent.TimeoutException}. Further calls add to what was named before.
     *
     * @param types classes, subclasses included
     * @return the changed copy
     * @throws InvalidUseException if null
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // copied at once
    public final RetryPolicy neverOn(Class<? extends Throwable>... types) {
        if (types == null) {
            throw new InvalidUseException("neverOn must not be null");
        }
        List<Class<? extends Throwable>> all = new ArrayList<>(never);
        all.addAll(Arrays.asList(types));
        return new RetryPolicy(backoff, maxAttempts, jitter, all);
    }

    /**
     * Whether this failure may be tried again at all.
     *
     * @param error what the handler threw
     * @return false for {@link PermanentFailure} and for the types of {@link #neverOn}
     */
    public boolean retries(Throwable error) {
        return !(error instanceof PermanentFailure) && never.stream().noneMatch(type -> type.isInstance(error));
    }

    /**
     * The delay before the next attempt, jitter included. Never throws.
     *
     * @param attempt the attempt that failed, 1 for the first
     * @param error what it threw
     * @return 0 to 100 years
     */
    public Duration delay(int attempt, Throwable error) {
        Duration plain;
        try {
            plain = Delays.checked("delay", backoff.delay(attempt, error));
        } catch (Throwable wrong) { // an Error too, or the attempt would have no outcome
            plain = ENDLESS;
        }
        double factor = 1 + jitter * (2 * ThreadLocalRandom.current().nextDouble() - 1);
        Duration varied = Duration.ofMillis(Math.round(plain.toMillis() * factor));
        return varied.compareTo(Delays.LONGEST) > 0 ? Delays.LONGEST : varied;
    }

    private static Duration positive(String what, Duration duration) {
        if (Delays.checked(what, duration).toMillis() < 1) {
            throw new InvalidUseException(what + " must be at least 1 ms, got " + duration);
        }
        return duration;
    }

    private record Exponential(Duration first, Duration longest) implements Backoff {
        @Override
        public Duration delay(int attempt, Throwable error) {
            long millis = first.toMillis();
            for (int i = 1; i < attempt && millis < longest.toMillis(); i++) {
                millis *= 2;
            }
            return Duration.ofMillis(Math.min(millis, longest.toMillis()));
        }
    }
}
