package io.rowlock.event.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The trace of who writes a job is the trace of its handler, in another process too. */
@PostgresTest
final class RowlockTracingIT {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind("receipt")
    private record Receipt(int no) {}

    private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("rowlock.job.attempt");

    private final TestSchema schema;
    private final InMemorySpanExporter writing = InMemorySpanExporter.create();
    private final InMemorySpanExporter handling = InMemorySpanExporter.create();
    private final OpenTelemetrySdk writer = sdk(writing);
    private final OpenTelemetrySdk worker = sdk(handling);

    RowlockTracingIT(TestSchema schema) {
        this.schema = schema;
    }

    private static OpenTelemetrySdk sdk(InMemorySpanExporter exporter) {
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .setPropagators(ContextPropagators.create(TextMapPropagator.composite(
                        W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance())))
                .build();
    }

    private TestRowlock traced(RowlockTracing tracing) throws Exception {
        return TestRowlock.fresh(schema, builder -> builder.headers(tracing).interceptor(tracing));
    }

    /** The same tables as those of traced(), as another process sees them. */
    private TestRowlock elsewhere(RowlockTracing tracing) {
        return TestRowlock.beside(schema, builder -> builder.headers(tracing).interceptor(tracing));
    }

    private interface Writing {
        void in(Span request) throws Exception;
    }

    private SpanData request(Writing work) throws Exception {
        Span request = writer.getTracer("test").spanBuilder("POST /orders").startSpan();
        try (Scope scope = request.makeCurrent()) {
            assertThat(scope).isNotNull();
            work.in(request);
        } finally {
            request.end();
        }
        return writing.getFinishedSpanItems().get(0);
    }

    private static void drain(TestRowlock rowlock, Consumer<WorkerConfig> config) {
        try (HandCrankedWorker cranked = rowlock.rowlock().handCrankedWorker(config)) {
            cranked.drain();
        }
    }

    @Test
    void enqueue_and_handler_are_one_trace_across_two_instances() throws Exception {
        TestRowlock one = traced(RowlockTracing.of(writer));
        TestRowlock other = elsewhere(RowlockTracing.of(worker));
        long[] ids = new long[2];
        SpanData request = request(span -> ids[0] = one.enqueue(new Mail(1)).id());
        List<Span> inHandler = new ArrayList<>();

        try (Worker running = other.work(w -> w.handle(Mail.class, (mail, job) -> {
                    inHandler.add(Span.current());
                    ids[1] = other.enqueue(new Receipt(1)).id();
                })
                .handle(Receipt.class, (receipt, job) -> {}))) {
            other.awaitAllEnded();
            TestRowlock.soon().until(() -> handling.getFinishedSpanItems().size() == 2);
            assertThat(running.health().up()).isTrue();
        }

        SpanData mail = handling.getFinishedSpanItems().get(0);
        SpanData receipt = handling.getFinishedSpanItems().get(1);
        assertThat(mail.getTraceId()).isEqualTo(request.getTraceId());
        assertThat(mail.getParentSpanId()).isEqualTo(request.getSpanId());
        assertThat(mail.getName()).isEqualTo("process mail");
        assertThat(mail.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(mail.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(mail.getAttributes().asMap())
                .containsEntry(AttributeKey.stringKey("messaging.system"), "rowlock")
                .containsEntry(AttributeKey.stringKey("messaging.operation.name"), "process")
                .containsEntry(AttributeKey.stringKey("messaging.operation.type"), "process")
                .containsEntry(AttributeKey.stringKey("messaging.destination.name"), "default")
                .containsEntry(AttributeKey.stringKey("messaging.message.id"), String.valueOf(ids[0]))
                .containsEntry(AttributeKey.stringKey("rowlock.job.kind"), "mail")
                .containsEntry(ATTEMPT, 1L);
        assertThat(inHandler.get(0).getSpanContext()).isEqualTo(mail.getSpanContext());
        assertThat(receipt.getTraceId()).isEqualTo(request.getTraceId());
        assertThat(receipt.getParentSpanId()).isEqualTo(mail.getSpanId());
    }

    @Test
    void retry_keeps_the_trace_and_failures_are_errors_but_a_snooze_is_none() throws Exception {
        TestRowlock rowlock = traced(RowlockTracing.of(worker));
        SpanData request = request(span -> rowlock.enqueue(new Mail(1)));

        drain(
                rowlock,
                config -> config.handle(
                        Mail.class,
                        (mail, job) -> {
                            if (handling.getFinishedSpanItems().isEmpty()) {
                                throw new Snooze(Duration.ZERO);
                            }
                            if (job.attempt() < 3) {
                                throw new IllegalStateException("the server is away");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(5))));

        List<SpanData> spans = handling.getFinishedSpanItems();
        assertThat(spans).hasSize(4).allSatisfy(span -> {
            assertThat(span.getTraceId()).isEqualTo(request.getTraceId());
            assertThat(span.getParentSpanId()).isEqualTo(request.getSpanId());
        });
        assertThat(spans).extracting(span -> span.getAttributes().get(ATTEMPT)).containsExactly(1L, 1L, 2L, 3L);
        assertThat(spans)
                .extracting(span -> span.getStatus().getStatusCode())
                .containsExactly(StatusCode.UNSET, StatusCode.ERROR, StatusCode.ERROR, StatusCode.UNSET);
        assertThat(spans.get(1).getEvents())
                .singleElement()
                .satisfies(event -> assertThat(event.getName()).isEqualTo("exception"));
        assertThat(spans.get(1).getAttributes().get(AttributeKey.stringKey("error.type")))
                .isEqualTo(IllegalStateException.class.getName());
        assertThat(spans.get(0).getEvents()).isEmpty();
    }

    @Test
    void transactional_handlers_are_traced_and_a_job_without_a_trace_begins_one() throws Exception {
        TestRowlock rowlock = traced(RowlockTracing.of(worker));
        schema.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('mail', '{\"no\":1}')");
        schema.execute("INSERT INTO rowlock_job (kind, payload, headers)"
                + " VALUES ('mail', '{\"no\":2}', '{\"traceparent\":\"no such thing\"}')");
        List<String> traces = new ArrayList<>();

        drain(
                rowlock,
                config -> config.handleTransactionally(
                        Mail.class,
                        (mail, job, connection) ->
                                traces.add(Span.current().getSpanContext().getTraceId())));

        assertThat(handling.getFinishedSpanItems())
                .hasSize(2)
                .allSatisfy(span ->
                        assertThat(span.getParentSpanContext().isValid()).isFalse())
                .extracting(SpanData::getTraceId)
                .doesNotHaveDuplicates()
                .isEqualTo(traces);
        assertThat(Span.current().getSpanContext().isValid()).isFalse();
    }

    @Test
    void linking_begins_a_trace_for_each_attempt_and_links_it_to_the_writer() throws Exception {
        TestRowlock rowlock = traced(RowlockTracing.linking(worker));
        SpanData request = request(span -> rowlock.enqueue(new Mail(1)));

        drain(rowlock, config -> config.handle(Mail.class, (mail, job) -> {}));

        assertThat(handling.getFinishedSpanItems()).singleElement().satisfies(span -> {
            assertThat(span.getTraceId()).isNotEqualTo(request.getTraceId());
            assertThat(span.getLinks())
                    .singleElement()
                    .satisfies(link ->
                            assertThat(link.getSpanContext().getSpanId()).isEqualTo(request.getSpanId()));
        });
    }

    /** Baggage may be as large as all headers of a job: the enqueue must not be refused for it. */
    @Test
    @Tag("P15")
    void large_baggage_is_left_out_and_small_baggage_reaches_the_handler() throws Exception {
        TestRowlock rowlock = traced(RowlockTracing.of(worker));
        List<Object> tenants = new ArrayList<>();
        for (String tenant : List.of("a", "b".repeat(8_000))) {
            Baggage baggage = Baggage.builder().put("tenant", tenant).build();
            request(span -> {
                try (Scope scope = Context.current().with(baggage).makeCurrent()) {
                    assertThat(scope).isNotNull();
                    rowlock.enqueue(new Mail(1), job -> job.header("own", "x".repeat(5_000)));
                }
            });
        }

        drain(
                rowlock,
                config -> config.handle(
                        Mail.class, (mail, job) -> tenants.add(Baggage.current().getEntryValue("tenant"))));

        assertThat(tenants).containsExactly("a", null);
        assertThat(handling.getFinishedSpanItems())
                .allSatisfy(span ->
                        assertThat(span.getParentSpanContext().isValid()).isTrue());
    }

    /** A propagator and a tracer that throw at everything. */
    private static final class Broken implements OpenTelemetry, TextMapPropagator {
        @Override
        public TracerProvider getTracerProvider() {
            return new TracerProvider() {
                @Override
                public Tracer get(String name) {
                    return span -> {
                        throw new IllegalStateException("a broken tracer");
                    };
                }

                @Override
                public Tracer get(String name, String version) {
                    return get(name);
                }

                @Override
                public TracerBuilder tracerBuilder(String name) {
                    throw new IllegalStateException("a broken provider");
                }
            };
        }

        @Override
        public ContextPropagators getPropagators() {
            return () -> this;
        }

        @Override
        public Collection<String> fields() {
            return List.of();
        }

        @Override
        public <C> void inject(Context context, C carrier, TextMapSetter<C> setter) {
            throw new IllegalStateException("a broken propagator");
        }

        @Override
        public <C> Context extract(Context context, C carrier, TextMapGetter<C> getter) {
            throw new IllegalStateException("a broken propagator");
        }
    }

    @Test
    @Tag("P10")
    @Tag("P15")
    void broken_tracing_breaks_neither_an_enqueue_nor_a_handler() throws Exception {
        TestRowlock rowlock = traced(RowlockTracing.of(new Broken()));
        long mail = rowlock.enqueue(new Mail(1)).id();
        List<JobContext> ran = new ArrayList<>();

        drain(rowlock, config -> config.handle(Mail.class, (payload, job) -> ran.add(job)));

        assertThat(ran).hasSize(1);
        assertThat(rowlock.state(mail)).isEqualTo(JobState.COMPLETED);
    }
}
