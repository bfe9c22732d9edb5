package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.rowlock.Rowlock;
import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.AlertLimits;
import io.rowlock.alert.AlertSink;
import io.rowlock.alert.WebhookSink;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

@PostgresTest
class AlertsIT {
    private final List<String> mails = new CopyOnWriteArrayList<>();
    private final List<String> posted = new CopyOnWriteArrayList<>();
    private final List<String> pages = new CopyOnWriteArrayList<>();

    @Kind("mail")
    record Mail(String to) {}

    private void send(String to, String subject, String body) {
        mails.add(to + ": " + subject);
    }

    private void page(String kind, String reason, String key) {
        pages.add(kind + ": " + reason);
    }

    @Test
    void sinks_are_told_of_a_death_and_a_person_takes_it_over(TestSchema schema) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/hook", exchange -> {
            posted.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try {
            URI hook = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hook");
            tell(schema, schema.dataSource(), hook);
        } finally {
            server.stop(0);
        }
        assertThat(posted).singleElement().satisfies(json -> assertThat(json).contains("\"cause\":\"job dead\""));
        assertThat(mails).containsExactly("ops@example.org: [Rowlock] job dead: mail");
        assertThat(pages).containsExactly("mail: no such address");
    }

    private void tell(TestSchema schema, DataSource dataSource, URI hook) throws Exception {
        // tag::sinks
        Rowlock rowlock = Rowlock.builder()
                .dataSource(dataSource)
                .schema(schema.name())
                .alertSink("log", AlertSink.log())
                .alertSink("mail", AlertSink.mail(this::send, "ops@example.org")) // (to, subject, body) -> ...
                .alertSink("chat", WebhookSink.to(hook).secret("shared").timeout(Duration.ofSeconds(5)))
                .alertSink("pager", (alert, delivery) -> {
                    if (alert.knownCause().filter(AlertCause.JOB_DEAD::equals).isPresent()) {
                        page(alert.kind(), alert.reason(), delivery.key());
                    }
                })
                .build();
        // end::sinks
        rowlock.schema().install();
        try (Connection connection = schema.begin();
                HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {
                    throw new PermanentFailure("no such address");
                }))) {
            rowlock.outbox().enqueue(connection, new Mail("nobody"));
            connection.commit();
            worker.drain();
        }
        // tag::acknowledge
        By ada = new By("ada", "the address was mistyped");
        for (Alert alert : rowlock.alerts().open(AlertFilter.all().kind("mail"), null, 100)) {
            rowlock.alerts().acknowledge(alert.id(), ada);
        }
        long rest = rowlock.alerts().acknowledgeAll(AlertFilter.all().cause(AlertCause.QUEUE_LAG), ada);
        // end::acknowledge
        assertThat(rest).isZero();
        assertThat(rowlock.alerts().open(AlertFilter.all(), null, 10)).isEmpty();
    }

    @Test
    void limits_are_set_and_switched_off(TestSchema schema) {
        // tag::limits
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .alertLimits(AlertLimits.standard()
                        .queueLag(Duration.ofMinutes(2))
                        .snapshotPinned(Duration.ofHours(1))
                        .unknownKind(null)) // off
                .build();
        // end::limits
        assertThat(rowlock).isNotNull();
    }
}
