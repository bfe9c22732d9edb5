package io.rowlock.examples.orders.outside;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.rowlock.examples.orders.fulfilment.KeyedHttp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** An HTTP server on a free port of 127.0.0.1 whose requests carry an idempotency key, and which may fail in bad ways. */
final class KeyedServer implements AutoCloseable {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final long HANG_SECONDS = 30;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** What a service does with a request. */
    interface Service {
        Answer answer(Request request) throws IOException;
    }

    /**
     * A request.
     *
     * @param undo whether it is a DELETE
     * @param key its idempotency key
     * @param body its JSON; of a DELETE nothing
     */
    record Request(boolean undo, String key, JsonNode body) {}

    /**
     * An answer.
     *
     * @param status of HTTP, or {@link #DROPPED} or {@link #HANGING}
     * @param text a number, or why not
     * @param retryAfter seconds; 0 for no such header
     */
    record Answer(int status, String text, int retryAfter) {
        private static final int DROPPED = -1;
        private static final int HANGING = -2;

        static Answer ok(String text) {
            return new Answer(200, text, 0);
        }

        static Answer failed(int status, String text) {
            return new Answer(status, text, 0);
        }

        static Answer busy(int seconds) {
            return new Answer(503, "busy", seconds);
        }

        /** The connection ends before an answer. */
        static Answer dropped() {
            return new Answer(DROPPED, "", 0);
        }

        /** The answer comes when nobody waits for it any more. */
        static Answer hanging() {
            return new Answer(HANGING, "", 0);
        }
    }

    KeyedServer(String path, Service service) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext(path, exchange -> handle(exchange, service));
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange, Service service) throws IOException {
        try (exchange) {
            String key = exchange.getRequestHeaders().getFirst(KeyedHttp.KEY_HEADER);
            if (key == null || key.isBlank()) {
                send(exchange, Answer.failed(400, "the header " + KeyedHttp.KEY_HEADER + " is missing"));
                return;
            }
            boolean undo = exchange.getRequestMethod().equals("DELETE");
            JsonNode body = MAPPER.readTree(exchange.getRequestBody().readAllBytes());
            Answer answer = service.answer(new Request(undo, key, body));
            if (answer.status() == Answer.HANGING) {
                hang();
            } else if (answer.status() != Answer.DROPPED) {
                send(exchange, answer);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void hang() throws IOException, InterruptedException {
        if (closed.await(HANG_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("The server was closed");
        }
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        if (answer.retryAfter() > 0) {
            exchange.getResponseHeaders().set("Retry-After", Integer.toString(answer.retryAfter()));
        }
        byte[] body = answer.text().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
