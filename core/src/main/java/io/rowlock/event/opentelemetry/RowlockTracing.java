package io.rowlock.event.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.rowlock.job.JobContext;
import io.rowlock.job.Snooze;
import io.rowlock.spi.HandlerInterceptor;
import io.rowlock.spi.HeaderContributor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Neither an enqueue nor a handler may fail because of its trace: what a propagator, a tracer or an exporter throws is logged,
 * once as a warning, and the rest goes on without. Baggage may have 8 KiB by its standard, as much as all headers of a job
 * may: what is not small is left out, as the enqueue would be refused.
 */

/**
 * One trace from the enqueue to the handler, over whatever time and processes lie between: the context of the thread that
 * writes a job stands in the job's headers (with the usual propagator {@code traceparent} and {@code tracestate}), and each
 * attempt is a span of kind consumer, named {@code process} and the job's kind, in which the handler runs. Give it to {@code
 * Rowlock.builder()} twice: {@code .headers(tracing).interceptor(tracing)}, as the first of both.
 *
 * <p>Spans have the attributes of OpenTelemetry's <a href="https://opentelemetry.io/docs/specs/semconv/messaging/">semantic
 * conventions for messaging</a> ({@code messaging.system} is {@code rowlock}, the destination is the queue, the message id is
 * the job's), and {@code rowlock.job.kind}, {@code rowlock.job.attempt}, {@code rowlock.job.max_attempts}. What a handler
 * throws is recorded and makes the span an error; a snooze is none. Safe for use by many threads.
 */
public final class RowlockTracing implements HeaderContributor, HandlerInterceptor {
    private static final Logger LOG = LoggerFactory.getLogger(RowlockTracing.class);
    private static final int LARGEST_CONTEXT = 2 << 10;

    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.name");
    private static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    private static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");
    private static final AttributeKey<String> MESSAGE = AttributeKey.stringKey("messaging.message.id");
    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
    private static final AttributeKey<String> KIND = AttributeKey.stringKey("rowlock.job.kind");
    private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("rowlock.job.attempt");
    private static final AttributeKey<Long> MAX_ATTEMPTS = AttributeKey.longKey("rowlock.job.max_attempts");

    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // older versions of the API have no other way to ask
        public Iterable<String> keys(Map<String, String> headers) {
            return headers.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private final Tracer tracer;
    private final TextMapPropagator propagator;
    private final boolean links;
    private final AtomicBoolean said = new AtomicBoolean();

    private RowlockTracing(OpenTelemetry openTelemetry, boolean links) {
        Objects.requireNonNull(openTelemetry, "openTelemetry");
        this.tracer = openTelemetry.getTracer("io.rowlock");
        this.propagator = openTelemetry.getPropagators().getTextMapPropagator();
        this.links = links;
    }

    /**
     * Attempts are children of what wrote their jobs: one trace for all that follows.
     *
     * @param openTelemetry its tracer provider and its propagators
     * @return the tracing
     */
    public static RowlockTracing of(OpenTelemetry openTelemetry) {
        return new RowlockTracing(openTelemetry, false);
    }

    /**
     * Each attempt begins a trace of its own, with a link to what wrote its job: for jobs that write their own successors for
     * ever, or wait for weeks, whose traces would never end.
     *
     * @param openTelemetry its tracer provider and its propagators
     * @return the tracing
     */
    public static RowlockTracing linking(OpenTelemetry openTelemetry) {
        return new RowlockTracing(openTelemetry, true);
    }

    @Override
    public Map<String, String> headers() {
        try {
            Map<String, String> headers = new LinkedHashMap<>();
            propagator.inject(Context.current(), headers, RowlockTracing::put);
            return headers;
        } catch (RuntimeException | LinkageError broken) {
            failed("A trace could not be written into the headers of jobs", broken);
            return Map.of();
        }
    }

    private static void put(@Nullable Map<String, String> headers, String name, String value) {
        if (headers == null) {
            return;
        }
        int size = name.length() + value.length();
        for (Map.Entry<String, String> each : headers.entrySet()) {
            size += each.getKey().length() + each.getValue().length();
        }
        if (size <= LARGEST_CONTEXT) {
            headers.put(name, value);
        }
    }

    @Override
    public void around(JobContext job, Invocation handler) throws Exception {
        Traced traced = begin(job);
        Throwable failure = null;
        try {
            handler.proceed();
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            end(traced, failure);
        }
    }

    private record Traced(Span span, Scope scope) {}

    @SuppressWarnings("MustBeClosedChecker") // end() closes it; what the scope itself throws must fail no handler
    private @Nullable Traced begin(JobContext job) {
        try {
            Context written = propagator.extract(Context.current(), job.headers(), GETTER);
            SpanBuilder builder = tracer.spanBuilder("process " + job.kind())
                    .setSpanKind(SpanKind.CONSUMER)
                    .setAttribute(SYSTEM, "rowlock")
                    .setAttribute(OPERATION, "process")
                    .setAttribute(OPERATION_TYPE, "process")
                    .setAttribute(DESTINATION, job.queue())
                    .setAttribute(MESSAGE, String.valueOf(job.id()))
                    .setAttribute(KIND, job.kind())
                    .setAttribute(ATTEMPT, (long) job.attempt())
                    .setAttribute(MAX_ATTEMPTS, (long) job.maxAttempts());
            if (links) {
                builder.setNoParent().addLink(Span.fromContext(written).getSpanContext());
            } else {
                builder.setParent(written);
            }
            Span span = builder.startSpan();
            return new Traced(span, written.with(span).makeCurrent());
        } catch (RuntimeException | LinkageError broken) {
            failed("A span could not be started", broken);
            return null;
        }
    }

    private void end(@Nullable Traced traced, @Nullable Throwable failure) {
        if (traced == null) {
            return;
        }
        try {
            traced.scope().close();
            if (failure != null && !(failure instanceof Snooze)) {
                traced.span().setStatus(StatusCode.ERROR);
                traced.span().setAttribute(ERROR, failure.getClass().getName());
                traced.span().recordException(failure);
            }
        } catch (RuntimeException | LinkageError broken) {
            failed("What a handler threw could not be recorded in its span", broken);
        }
        try {
            traced.span().end();
        } catch (RuntimeException | LinkageError broken) {
            failed("A span could not be ended", broken);
        }
    }

    private void failed(String what, Throwable broken) {
        if (said.compareAndSet(false, true)) {
            LOG.warn("{}; the jobs go on without. Further such errors are logged at debug level", what, broken);
        } else {
            LOG.debug("{}", what, broken);
        }
    }
}
