package io.rowlock.alert;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A webhook that is busy, then broken, then there: one delivery, under one key. */
@PostgresTest
final class WebhookTellIT {
    @Kind("mail")
    private record Mail(int no) {}

    private final List<String> keys = new CopyOnWriteArrayList<>();

    @Test
    void a_busy_webhook_is_asked_when_it_says_and_a_broken_one_by_the_policy(TestSchema schema) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        List<Integer> answers = List.of(429, 500, 204);
        server.createContext("/hook", exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            exchange.getResponseHeaders().set("Retry-After", "3600");
            exchange.sendResponseHeaders(answers.get(keys.size() - 1), -1);
            exchange.close();
        });
        server.start();
        try {
            URI hook = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hook");
            TestRowlock rowlock = TestRowlock.fresh(schema, builder -> builder.alertSink("chat", WebhookSink.to(hook)));
            rowlock.enqueue(new Mail(1));
            try (HandCrankedWorker worker = rowlock.rowlock()
                    .handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {
                        throw new PermanentFailure("no");
                    }))) {
                worker.drain();
                assertThat(
                                schema.count(
                                        "SELECT count(*) FROM rowlock_job WHERE kind = 'rowlock-alert:chat'"
                                                + " AND run_at BETWEEN clock_timestamp() + interval '50 minutes' AND clock_timestamp() + interval '1 hour'"))
                        .isEqualTo(1);
                worker.bringForward();
                worker.drain();
                assertThat(
                                schema.count(
                                        "SELECT count(*) FROM rowlock_job WHERE kind = 'rowlock-alert:chat'"
                                                + " AND run_at < clock_timestamp() + interval '1 minute' AND last_error LIKE '%answered 500%'"))
                        .isEqualTo(1);
                worker.bringForward();
                worker.drain();
            }
        } finally {
            server.stop(0);
        }
        assertThat(keys).hasSize(3).containsOnly(keys.get(0));
        assertThat(schema.list(String.class, "SELECT state FROM rowlock_job WHERE kind = 'rowlock-alert:chat'"))
                .containsExactly("completed");
    }
}
