package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.util.function.Consumer;

/**
 * One job to be written among many: kind, payload and options.
 *
 * @param <T> the type of the payload
 * @param kind the kind
 * @param payload the payload, never null
 * @param options how to write it
 */
public record JobRequest<T>(JobKind<T> kind, T payload, JobOptions options) {

    public JobRequest {
        if (kind == null || payload == null || options == null) {
            throw new InvalidUseException("A job needs a kind, a payload and options, got kind="
                    + (kind == null ? "null" : kind.name()) + ", payload "
                    + (payload == null ? "null" : "given") + ", options " + (options == null ? "null" : "given"));
        }
    }

    /**
     * A job of the kind its payload's class names.
     *
     * @param payload the payload; its class has {@link Kind}
     * @param <T> the type of the payload
     * @return the request with default options
     * @throws InvalidUseException if the payload is null or has no kind
     */
    public static <T> JobRequest<T> of(T payload) {
        return of(payload, options -> {});
    }

    /**
     * A job of the kind its payload's class names, with options.
     *
     * @param payload the payload; its class has {@link Kind}
     * @param options fills in the options
     * @param <T> the type of the payload
     * @return the request
     * @throws InvalidUseException if the payload is null or has no kind, or an option is not allowed
     */
    public static <T> JobRequest<T> of(T payload, Consumer<JobOptions> options) {
        if (payload == null) {
            throw new InvalidUseException("The payload of a job must not be null");
        }
        @SuppressWarnings("unchecked")
        Class<T> type = (Class<T>) payload.getClass();
        return of(JobKind.of(type), payload, options);
    }

    /**
     * A job of a given kind, with options.
     *
     * @param kind the kind
     * @param payload the payload
     * @param options fills in the options
     * @param <T> the type of the payload
     * @return the request
     * @throws InvalidUseException if anything is null or an option is not allowed
     */
    public static <T> JobRequest<T> of(JobKind<T> kind, T payload, Consumer<JobOptions> options) {
        if (options == null) {
            throw new InvalidUseException("The options of a job must not be null; leave them out for none");
        }
        JobOptions filled = new JobOptions();
        options.accept(filled);
        return new JobRequest<>(kind, payload, filled);
    }
}
