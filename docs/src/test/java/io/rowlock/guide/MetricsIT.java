package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.AttemptEnded;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.micrometer.RowlockMetrics;
import io.rowlock.event.micrometer.WorkerMetrics;
import io.rowlock.event.opentelemetry.RowlockTracing;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

@PostgresTest
class MetricsIT {
    @Kind("mail")
    public record Mail(long order) {}

    private final TestSchema schema;
    private final List<Object> slow = new CopyOnWriteArrayList<>();

    MetricsIT(TestSchema schema) {
        this.schema = schema;
    }

    private void enqueue(Rowlock rowlock) throws Exception {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Mail(42));
            connection.commit();
        }
    }

    @Test
    void listener_and_meters() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        // tag::meters
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .listener(new RowlockMetrics(registry))
                .build();
        Worker worker = rowlock.worker(w -> w.name("mailer").handle(Mail.class, (mail, job) -> {}));
        new WorkerMetrics("mailer", worker).bindTo(registry); // a name, not worker.id(): that is new with each start
        // end::meters
        rowlock.schema().install();
        enqueue(rowlock);
        try (worker) {
            worker.start();
            await().until(() -> registry.get("rowlock.job.outcomes")
                            .tags("queue", "default", "kind", "mail", "outcome", "completed")
                            .counter()
                            .count()
                    == 1);
        }
    }

    @Test
    void events_by_hand() throws Exception {
        // tag::listener
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .listener(event -> {
                    if (event instanceof AttemptEnded ended && ended.took().compareTo(Duration.ofSeconds(30)) > 0) {
                        slow.add(ended);
                    } else if (event instanceof JobDied died) {
                        slow.add(died.kind());
                    }
                })
                .build();
        // end::listener
        rowlock.schema().install();
        enqueue(rowlock);
        try (HandCrankedWorker worker =
                rowlock.handCrankedWorker(config -> config.handle(Mail.class, (mail, job) -> {}))) {
            assertThat(worker.drain()).isPositive();
        }
        assertThat(slow).isEmpty();
    }

    @Test
    void one_trace_from_the_enqueue_to_the_handler() throws Exception {
        InMemorySpanExporter spans = InMemorySpanExporter.create();
        OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(spans))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build();
        // tag::traces
        RowlockTracing tracing = RowlockTracing.of(openTelemetry);
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .headers(tracing) // the context of who enqueues goes into the job's headers
                .interceptor(tracing) // each attempt is a span of that trace
                .build();
        // end::traces
        rowlock.schema().install();
        Span request =
                openTelemetry.getTracer("guide").spanBuilder("POST /orders").startSpan();
        try (Scope scope = request.makeCurrent()) {
            assertThat(scope).isNotNull();
            enqueue(rowlock);
        }
        try (HandCrankedWorker worker =
                rowlock.handCrankedWorker(config -> config.handle(Mail.class, (mail, job) -> {}))) {
            worker.drain();
        }
        assertThat(spans.getFinishedSpanItems())
                .last()
                .satisfies(span -> assertThat(span.getTraceId())
                        .isEqualTo(request.getSpanContext().getTraceId()));
    }

    @Test
    void something_around_each_handler() throws Exception {
        List<String> tenants = new CopyOnWriteArrayList<>();
        ThreadLocal<String> tenant = new ThreadLocal<>();
        // tag::interceptor
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .interceptor((job, handler) -> {
                    tenant.set(job.headers().getOrDefault("tenant", "nobody"));
                    try {
                        handler.proceed(); // exactly once, on this thread; what it throws goes on
                    } finally {
                        tenant.remove();
                    }
                })
                .build();
        // end::interceptor
        rowlock.schema().install();
        enqueue(rowlock);
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(
                config -> config.handle(Mail.class, (mail, job) -> tenants.add(tenant.get())))) {
            worker.drain();
        }
        assertThat(tenants).isNotEmpty().containsOnly("nobody");
        assertThat(tenant.get()).isNull();
    }
}
