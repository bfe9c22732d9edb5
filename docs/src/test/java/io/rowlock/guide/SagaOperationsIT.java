package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaFork;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

@PostgresTest
class SagaOperationsIT {
    private static final SagaType<Parcel> PARCEL = SagaType.named("parcel", Parcel.class);

    /** The state of a saga. */
    public record Parcel(long order, String shipment) {}

    private final AtomicBoolean carrierIsThere = new AtomicBoolean();

    @Test
    void people_act_on_sagas(TestSchema schema) throws Exception {
        SagaDefinition<Parcel> definition = saga -> saga.named("parcel", Parcel.class)
                .version(1)
                .step("pack")
                .call((parcel, step) -> parcel)
                .noCompensation()
                .pivot("book")
                .call((parcel, step) -> {
                    if (!carrierIsThere.get()) {
                        throw new PermanentFailure("no such carrier");
                    }
                    return new Parcel(parcel.order(), "DE-1");
                })
                .build();
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        SagaEngine engine = SagaEngine.builder(rowlock).register(definition).build();
        Worker worker = rowlock.worker(config -> engine.on(config).poll(Duration.ofMillis(50)));
        worker.start();
        try {
            for (int order = 1; order <= 3; order++) {
                start(schema, engine, order);
            }
            SagaOperations operations = engine.operations();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> operations
                                    .find(SagaQuery.all().needsPerson())
                                    .sagas()
                                    .size()
                            == 3);
            look(operations);
            act(operations);
            many(operations);
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static void start(TestSchema schema, SagaEngine engine, int order) throws Exception {
        try (Connection connection = schema.begin()) {
            Parcel parcel = new Parcel(order, "");
            // tag::subject
            engine.sagas()
                    .start(connection, PARCEL, "parcel-" + order, parcel, options -> options.subject("Customer:7"));
            // end::subject
            connection.commit();
        }
    }

    private static void look(SagaOperations operations) {
        // tag::find
        SagaPage page =
                operations.find(SagaQuery.all().name("parcel").needsPerson().pageSize(50));
        for (SagaView saga : page.sagas()) {
            System.out.println(saga.id() + " at " + saga.course().step() + ": "
                    + saga.course().reason());
        }
        page.next()
                .ifPresent(
                        cursor -> operations.find(SagaQuery.all().needsPerson().after(cursor)));
        // end::find
        // tag::timeline
        SagaTimeline timeline = operations.timeline("parcel-1").orElseThrow();
        System.out.println(timeline.toText());
        System.out.println(timeline.toMermaid());
        // end::timeline
        assertThat(page.sagas()).hasSize(3);
        assertThat(timeline.toText()).contains("no such carrier");
    }

    private void act(SagaOperations operations) {
        // tag::act
        By ann = new By("ann", "INC-12: the carrier was down, booked by telephone");
        SagaAnswer answer = operations.resolve("parcel-1", "book", new Parcel(1, "DE-0815"), ann);
        // end::act
        assertThat(answer).isEqualTo(SagaAnswer.DONE);
        await().atMost(Duration.ofMinutes(1))
                .until(() -> operations.get("parcel-1").orElseThrow().status() == SagaStatus.COMPLETED);
        carrierIsThere.set(true);
        // tag::fork
        SagaFork fork = operations.fork("parcel-1", "book", "parcel-1-again", ann);
        System.out.println(fork.outcome() + ": " + fork.words());
        // end::fork
        assertThat(fork.outcome()).isEqualTo(SagaFork.Outcome.FORKED);
        await().atMost(Duration.ofMinutes(1))
                .until(() -> operations.get("parcel-1-again").orElseThrow().status() == SagaStatus.COMPLETED);
    }

    private static void many(SagaOperations operations) {
        By ann = new By("ann", "the carrier is there again");
        // tag::many
        SagaTally tally = operations.retryAll(SagaQuery.all().name("parcel").step("book"), ann);
        // end::many
        assertThat(tally.done()).isEqualTo(2);
        await().atMost(Duration.ofMinutes(1))
                .until(() -> operations.get("parcel-2").orElseThrow().status() == SagaStatus.COMPLETED
                        && operations.get("parcel-3").orElseThrow().status() == SagaStatus.COMPLETED);
        // tag::redact
        SagaRedaction redaction = operations.redact("Customer:7", new By("ann", "Art. 17, request 99"));
        // end::redact
        assertThat(redaction).isEqualTo(new SagaRedaction(4, 0, 0));
    }
}
