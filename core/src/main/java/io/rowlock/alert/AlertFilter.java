package io.rowlock.alert;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which open alerts. Immutable: each method returns a narrower copy.
 *
 * @param cause the column's text, or null for any
 * @param kind the kind, or null for any; rows under its aliases count, as for {@link io.rowlock.job.JobQuery#kind}
 * @param since what happened last at this time or later, or null
 * @param before what happened last before this time, or null
 */
public record AlertFilter(
        @Nullable String cause,
        @Nullable String kind,
        @Nullable Instant since,
        @Nullable Instant before) {
    private static final AlertFilter ALL = new AlertFilter(null, null, null, null);

    /**
     * All of them.
     *
     * @return a filter that lets all pass
     */
    public static AlertFilter all() {
        return ALL;
    }

    /**
     * Those of a cause.
     *
     * @param only the cause
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public AlertFilter cause(AlertCause only) {
        return new AlertFilter(required("cause", only).text(), kind, since, before);
    }

    /**
     * Those of a kind.
     *
     * @param only the kind
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public AlertFilter kind(String only) {
        return new AlertFilter(cause, required("kind", only), since, before);
    }

    /**
     * Those that happened last at a time or later.
     *
     * @param from the time, by the database's clock
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public AlertFilter since(Instant from) {
        return new AlertFilter(cause, kind, required("since", from), before);
    }

    /**
     * Those that happened last before a time.
     *
     * @param to the time, by the database's clock
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public AlertFilter before(Instant to) {
        return new AlertFilter(cause, kind, since, required("before", to));
    }

    private static <T> T required(String what, @Nullable T value) {
        if (value == null) {
            throw new InvalidUseException(what + " must not be null");
        }
        return value;
    }
}
