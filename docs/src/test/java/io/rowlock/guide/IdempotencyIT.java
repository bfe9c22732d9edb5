package io.rowlock.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.rowlock.Rowlock;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.idempotency.Answer;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.IdempotencyKeys;
import io.rowlock.idempotency.IdempotencyOptions;
import io.rowlock.idempotency.IdempotentRequest;
import io.rowlock.idempotency.Outcome;
import io.rowlock.idempotency.StoredAnswer;
import io.rowlock.job.By;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.tx.TransactionRetry;
import io.rowlock.tx.Transactions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

@PostgresTest
class IdempotencyIT {
    private final TestSchema schema;
    private final DataSource dataSource;
    private final Rowlock rowlock;
    private final HttpClient client = HttpClient.newHttpClient();

    IdempotencyIT(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.dataSource = schema.dataSource();
        this.rowlock =
                Rowlock.builder().dataSource(dataSource).schema(schema.name()).build();
        rowlock.schema().install();
        schema.execute(
                "DROP TABLE IF EXISTS payment; CREATE TABLE payment (id bigint GENERATED ALWAYS AS IDENTITY, what text)");
    }

    // tag::answer
    /** What a client is told, as it is stored. */
    record Told(int status, String body) {}

    private Answer<Told> pay(Connection connection, IdempotentRequest request, String body) throws SQLException {
        return rowlock.idempotencyKeys().execute(connection, request, Told.class, () -> {
            if (body.isBlank()) {
                return Outcome.stored(new Told(400, "nothing to pay")); // tomorrow, too
            }
            try (PreparedStatement insert =
                    connection.prepareStatement("INSERT INTO payment (what) VALUES (?) RETURNING id")) {
                insert.setString(1, body);
                try (var row = insert.executeQuery()) {
                    row.next();
                    return Outcome.stored(new Told(201, "payment " + row.getLong(1)));
                }
            }
        });
    }

    // end::answer

    // tag::server
    private void handle(HttpExchange exchange) throws IOException {
        try {
            byte[] body = exchange.getRequestBody().readAllBytes();
            IdempotentRequest request = IdempotentRequest.of(
                    IdempotencyKey.ofHeader(exchange.getRequestHeaders().getFirst("Idempotency-Key")),
                    "acme/ada", // whom your login has found, never what the client says of itself
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    body);
            Answer<Told> answer = Transactions.retrying(
                    dataSource,
                    TransactionRetry.standard().ofIdempotentWork(), // the key makes it so
                    connection -> pay(connection, request, new String(body, UTF_8)));
            exchange.getResponseHeaders().set("Idempotent-Replayed", Boolean.toString(answer.replayed()));
            send(exchange, answer.value());
        } catch (IdempotencyRefusedException refused) {
            if (refused.reason() == Reason.IN_PROGRESS) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            send(exchange, new Told(refused.reason().status(), refused.getMessage()));
        } catch (SQLException failed) {
            send(exchange, new Told(503, "try again, with the same key"));
        } finally {
            exchange.close();
        }
    }

    // end::server

    private static void send(HttpExchange exchange, Told told) throws IOException {
        byte[] bytes = told.body().getBytes(UTF_8);
        exchange.sendResponseHeaders(told.status(), bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Test
    void a_repeated_post_is_paid_once() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/payments", this::handle);
        server.start();
        try {
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/payments");
            HttpResponse<String> first = post(uri, "\"k-1\"", "coffee");
            HttpResponse<String> again = post(uri, "\"k-1\"", "coffee");
            HttpResponse<String> other = post(uri, "\"k-1\"", "tea");
            HttpResponse<String> keyless = post(uri, "", "tea");

            assertThat(first.statusCode()).isEqualTo(201);
            assertThat(again.statusCode()).isEqualTo(201);
            assertThat(again.body()).isEqualTo(first.body()).isEqualTo("payment 1");
            assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
            assertThat(other.statusCode()).isEqualTo(422);
            assertThat(keyless.statusCode()).isEqualTo(400);
            assertThat(schema.count("SELECT count(*) FROM payment")).isOne();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void an_outcome_by_its_status() throws Exception {
        IdempotencyKeys keys = rowlock.idempotencyKeys();
        IdempotentRequest request =
                IdempotentRequest.of(new IdempotencyKey("k-2"), "acme/ada", "POST", "/payments", new byte[0]);
        try (Connection connection = schema.begin()) {
            // tag::status
            Answer<Told> answer = keys.execute(connection, request, Told.class, () -> {
                Told told = new Told(503, "the bank does not answer");
                return new Outcome<>(told, told.status() < 500);
            });
            // end::status
            connection.commit();
            assertThat(answer.source()).isEqualTo(Answer.Source.UNDONE);
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_idempotency_key WHERE key = 'k-2'"))
                .isZero();
    }

    @Test
    void an_answer_is_read_and_taken_out() throws Exception {
        IdempotentRequest request =
                IdempotentRequest.of(new IdempotencyKey("k-4"), "acme/ada", "POST", "/payments", new byte[] {1});
        try (Connection connection = schema.begin()) {
            pay(connection, request, "tea");
            connection.commit();
        }
        // tag::redact
        By ann = new By("ann", "request 12 of the person");
        List<StoredAnswer> told = rowlock.answers().find("acme/ada", new IdempotencyKey("k-4"), ann);
        long redacted = rowlock.answers().redact("acme/ada", ann); // all of the principal
        // end::redact
        assertThat(told)
                .singleElement()
                .extracting(StoredAnswer::answer)
                .asString()
                .contains("201");
        assertThat(redacted).isPositive();
    }

    @Test
    void other_times() throws Exception {
        // tag::options
        IdempotencyKeys keys = rowlock.idempotencyKeys()
                .with(IdempotencyOptions.standard().keptFor(Duration.ofDays(7)).waiting(Duration.ofSeconds(5)));
        // end::options
        IdempotentRequest request =
                IdempotentRequest.of(new IdempotencyKey("k-3"), "acme/ada", "POST", "/payments", new byte[0]);
        try (Connection connection = schema.begin()) {
            assertThat(keys.execute(connection, request, Told.class, () -> Outcome.stored(new Told(204, "")))
                            .replayed())
                    .isFalse();
            connection.commit();
        }
    }

    private HttpResponse<String> post(URI uri, String key, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
