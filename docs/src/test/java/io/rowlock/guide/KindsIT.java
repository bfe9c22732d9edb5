package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.WorkerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

@PostgresTest
class KindsIT {
    // tag::renamed
    @Kind(value = "order-confirmation", aliases = "order-mail")
    public record OrderConfirmation(long order) {}
    // end::renamed

    // tag::version
    @Kind(value = "invoice", version = 3) // 1: euros, 2: cents, 3: with a currency
    public record Invoice(long order, long cents, String currency) {}
    // end::version

    // tag::old
    /** What version 2 wrote; has no kind of its own. */
    public record InvoiceOfVersion2(long order, long cents) {}
    // end::old

    private final TestSchema schema;
    private final List<Object> done = new ArrayList<>();

    KindsIT(TestSchema schema) {
        this.schema = schema;
    }

    @Test
    void older_versions_and_names_are_done() throws Exception {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        schema.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('order-mail', '{\"order\":42}'),"
                + " ('invoice', '{\"order\":1,\"euros\":5}')");
        schema.execute("INSERT INTO rowlock_job (kind, payload, headers)"
                + " VALUES ('invoice', '{\"order\":2,\"cents\":7}', '{\"rowlock-version\":\"2\"}')");

        // tag::upcasts
        Consumer<WorkerConfig> handlers = w -> w.handle(
                Invoice.class,
                (invoice, job) -> done.add(invoice),
                h -> h.upcast(1, json -> json.replaceAll("\"euros\":(\\d+)", "\"cents\":$100")) // JSON to JSON
                        .upcast(2, InvoiceOfVersion2.class, old -> new Invoice(old.order(), old.cents(), "EUR")));
        // end::upcasts
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(config -> {
            handlers.accept(config);
            config.handle(OrderConfirmation.class, (confirmation, job) -> done.add(confirmation));
        })) {
            worker.drain();
        }

        assertThat(done)
                .containsExactlyInAnyOrder(
                        new OrderConfirmation(42), new Invoice(1, 500, "EUR"), new Invoice(2, 7, "EUR"));
    }
}
