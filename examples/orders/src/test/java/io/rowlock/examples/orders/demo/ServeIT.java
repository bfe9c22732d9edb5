package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.testkit.postgres.ChildJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** {@code ./demo --serve} in a process of its own, used by HTTP and ended by a signal. */
class ServeIT {
    private static final Duration SOON = Duration.ofMinutes(3);

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void it_serves_until_a_signal_and_then_stops_cleanly() throws Exception {
        int port = freePort();
        try (ChildJvm serve = serve(port)) {
            serve.awaitLine("The shop is open at http://127.0.0.1:" + port, SOON);

            assertThat(post(port, new OrderText(42).toString()).statusCode()).isEqualTo(201);
            assertThat(post(port, new OrderText(42).toString()).statusCode()).isEqualTo(409);
            assertThat(post(port, new OrderText(43).with("freight", "4.9").toString())
                            .body())
                    .contains("BAD_ORDER")
                    .contains("freight: expected a decimal as text");
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(get(port, "/orders/42").body())
                            .contains("order-confirmation")
                            .contains("order-placed")
                            .contains("\"fulfilment\":\"COMPLETED\"")
                            .doesNotContain("\"ready\""));
            assertThat(get(port, "/orders/42/fulfilment").body())
                    .contains("order-fulfilment v1): completed")
                    .contains("book-shipment  completed");
            assertRefused(post(port, "/orders/42/delivered", "{\"at\": 7.x}"), 400, "BAD_DELIVERY");
            assertRefused(post(port, "/orders/43/delivered", "{\"at\": \"2026-12-01T12:00:00Z\"}"), 404, "NOT_FOUND");
            assertThat(post(port, "/orders/42/delivered", "{\"at\": \"2026-12-01T12:00:00Z\"}")
                            .statusCode())
                    .isEqualTo(204); // once more, late: recorded, and moves nothing
            assertRefused(get(port, "/orders/43"), 404, "NOT_FOUND");
            assertRefused(get(port, "/nothing"), 404, "NOT_FOUND");
            assertRefused(get(port, "/orders/x"), 400, "BAD_NUMBER");
            assertRefused(post(port, "x".repeat(1_100_000)), 413, "TOO_LONG");
            assertThat(get(port, "/jobs").body()).contains("\"completed\":");
            assertThat(get(port, "/health").statusCode()).isEqualTo(200);

            serve.terminate();
            serve.awaitLine("Stopping", SOON);
            serve.awaitLine("Stopped.", SOON);
            assertThat(serve.awaitExit(SOON)).isZero();
            assertThat(serve.lines()).noneMatch(line -> line.contains("Exception"));
        }
    }

    @Test
    void a_signal_while_it_starts_stops_it_too() throws Exception {
        try (ChildJvm serve = serve(freePort())) {
            serve.awaitLine("Starting", SOON);
            serve.terminate();
            serve.awaitLine("Stopped before it was open.", SOON);
            assertThat(serve.awaitExit(SOON)).isZero();
            assertThat(serve.lines()).noneMatch(line -> line.contains("Exception"));
        }
    }

    @Test
    void a_taken_port_is_named() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ChildJvm serve = serve(taken.getLocalPort())) {
            serve.awaitLine("Port " + taken.getLocalPort() + " of 127.0.0.1 is in use", SOON);
            assertThat(serve.awaitExit(SOON)).isEqualTo(1);
        }
    }

    private static ChildJvm serve(int port) {
        return ChildJvm.start(Demo.class, options -> options.arguments("--serve", "--port", Integer.toString(port)));
    }

    private static void assertRefused(HttpResponse<String> answer, int status, String code) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(answer.body()).startsWith("{\"code\":\"" + code + "\",\"reasons\":[\"");
    }

    private HttpResponse<String> post(int port, String order) throws IOException, InterruptedException {
        return post(port, "/orders", order);
    }

    private HttpResponse<String> post(int port, String path, String body) throws IOException, InterruptedException {
        return http.send(request(port, path).POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return http.send(request(port, path).build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
