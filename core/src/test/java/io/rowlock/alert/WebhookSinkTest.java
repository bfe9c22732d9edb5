package io.rowlock.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.rowlock.alert.AlertSink.Delivery;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is posted, and what each answer, or none, means for the delivery. */
final class WebhookSinkTest {
    private static final Instant AT = Instant.parse("2026-11-30T10:15:30.123456Z");
    private static final Alert ALERT = new Alert(
            42,
            "job dead",
            "mail",
            3,
            "broken: \"quotes\", \\ and\na line, \u0001 \uD83D\uDE80 ä",
            null,
            new Alert.Span(AT, AT.plusSeconds(1)),
            null);
    private static final Delivery DELIVERY = new Delivery("key-7", 1);

    private final List<Map<String, List<String>>> headers = new CopyOnWriteArrayList<>();
    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;

    @FunctionalInterface
    private interface Answer {
        void to(HttpExchange exchange) throws Exception;
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        hanging.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private WebhookSink answering(Answer answer) {
        server.createContext("/hook", exchange -> {
            headers.add(Map.copyOf(exchange.getRequestHeaders()));
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            try (exchange) {
                answer.to(exchange);
            } catch (Exception e) {
                throw new IOException(e);
            }
        });
        return WebhookSink.to(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hook"));
    }

    private WebhookSink answering(int status, String... header) {
        return answering(exchange -> {
            for (int i = 0; i < header.length; i += 2) {
                exchange.getResponseHeaders().set(header[i], header[i + 1]);
            }
            exchange.sendResponseHeaders(status, -1);
        });
    }

    @Test
    void the_alert_is_posted_as_json_under_the_deliverys_key() throws Exception {
        answering(204).tell(ALERT, DELIVERY);

        JsonNode json = new ObjectMapper().readTree(bodies.get(0));
        assertThat(json.get("id").asLong()).isEqualTo(42);
        assertThat(json.get("cause").asText()).isEqualTo("job dead");
        assertThat(json.get("kind").asText()).isEqualTo("mail");
        assertThat(json.get("count").asLong()).isEqualTo(3);
        assertThat(json.get("reason").asText()).isEqualTo(ALERT.reason());
        assertThat(json.get("job").isNull()).isTrue();
        assertThat(json.get("first").asText()).isEqualTo(AT.toString());
        assertThat(json.get("last").asText()).isEqualTo(AT.plusSeconds(1).toString());
        assertThat(headers.get(0).get("Idempotency-key")).containsExactly("key-7");
        assertThat(headers.get(0).get("Content-type")).containsExactly("application/json");
        assertThat(headers.get(0)).doesNotContainKey("Rowlock-signature");
    }

    @Test
    void who_shares_a_secret_can_tell_that_key_and_body_are_ours() throws Exception {
        answering(200).secret("shared").tell(ALERT, DELIVERY);

        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec("shared".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        String expected =
                HexFormat.of().formatHex(mac.doFinal(("key-7." + bodies.get(0)).getBytes(StandardCharsets.UTF_8)));
        assertThat(headers.get(0).get("Rowlock-signature")).containsExactly("sha256=" + expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void who_says_when_to_come_back_is_asked_then(int status) {
        assertThat(waitAfter(answering(status, "Retry-After", "17"))).isEqualTo(Duration.ofSeconds(17));
    }

    @Test
    void a_date_to_come_back_counts_from_the_answers_own_date() {
        assertThat(retryAfter("Mon, 30 Nov 2026 10:00:42 GMT", "Mon, 30 Nov 2026 10:00:00 GMT"))
                .isEqualTo(Duration.ofSeconds(42));
        assertThat(retryAfter("Mon, 30 Nov 2026 09:00:00 GMT", "Mon, 30 Nov 2026 10:00:00 GMT"))
                .as("over already")
                .isZero();
        assertThat(retryAfter("Mon, 30 Nov 2026 10:00:42 GMT", "today")).isNull();
    }

    private static @Nullable Duration retryAfter(String value, String date) {
        return WebhookSink.retryAfter(
                HttpHeaders.of(Map.of("Retry-After", List.of(value), "Date", List.of(date)), (name, each) -> true));
    }

    @Test
    void nobody_is_waited_for_longer_than_a_day() {
        assertThat(waitAfter(answering(429, "Retry-After", "999999999"))).isEqualTo(Duration.ofDays(1));
    }

    private static Duration waitAfter(WebhookSink sink) {
        return catchThrowableOfType(RetryAfter.class, () -> sink.tell(ALERT, DELIVERY))
                .delay();
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504})
    void what_may_work_later_is_tried_again_by_the_policy(int status) {
        assertThatThrownBy(() -> answering(status).tell(ALERT, DELIVERY))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("answered " + status);
    }

    @Test
    void a_time_to_come_back_that_cannot_be_read_is_none() {
        assertThatThrownBy(() -> answering(429, "Retry-After", "soon").tell(ALERT, DELIVERY))
                .isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 308, 400, 401, 403, 404, 410, 422})
    void what_no_retry_can_help_is_a_dead_letter_at_once(int status) {
        assertThatThrownBy(() ->
                        answering(status, "Location", "http://127.0.0.1:1/").tell(ALERT, DELIVERY))
                .isInstanceOf(PermanentFailure.class)
                .hasMessageContaining("answered " + status);
    }

    @Test
    void who_never_answers_is_not_waited_for() {
        WebhookSink sink = answering(exchange -> hanging.await()).timeout(Duration.ofMillis(200));
        assertThatThrownBy(() -> sink.tell(ALERT, DELIVERY)).isInstanceOf(IOException.class);
    }

    @Test
    void an_answer_that_never_ends_is_not_waited_for() {
        WebhookSink sink = answering(exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    exchange.getResponseBody().write('x');
                    exchange.getResponseBody().flush();
                    hanging.await();
                })
                .timeout(Duration.ofMillis(300));
        assertThatThrownBy(() -> sink.tell(ALERT, DELIVERY)).isInstanceOf(IOException.class);
    }

    @Test
    void an_interrupt_ends_it() throws Exception {
        WebhookSink sink = answering(exchange -> hanging.await()).timeout(Duration.ofSeconds(50));
        CountDownLatch ended = new CountDownLatch(1);
        Future<?> telling = threads.submit(() -> {
            try {
                sink.tell(ALERT, DELIVERY);
            } catch (InterruptedException e) {
                ended.countDown();
            }
            return true;
        });
        Awaitility.await().until(() -> bodies.size() == 1);
        telling.cancel(true);
        Awaitility.await().until(() -> ended.getCount() == 0);
    }

    @Test
    void nobody_at_that_address_is_tried_again() {
        WebhookSink sink = answering(200);
        server.stop(0);
        assertThatThrownBy(() -> sink.tell(ALERT, DELIVERY))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("could not be reached");
    }

    @Test
    void what_cannot_be_is_refused() {
        assertThatThrownBy(() -> WebhookSink.to(URI.create("file:///etc/passwd")))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> WebhookSink.to(URI.create("/hook"))).isInstanceOf(InvalidUseException.class);
        WebhookSink sink = WebhookSink.to(URI.create("https://example.org/hook"));
        assertThatThrownBy(() -> sink.timeout(Duration.ofMinutes(2))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> sink.secret("")).isInstanceOf(InvalidUseException.class);
    }
}
