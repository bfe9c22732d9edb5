package io.rowlock.examples.orders.partner;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.io.IOException;
import java.net.URI;

/**
 * The partner's side, for the demo: an HTTP server that fails as partners do, and always at the same orders. Of every
 * ten orders,
 *
 * <ul>
 *   <li>those ending in 3 are refused twice with 503, the first time with {@code Retry-After};
 *   <li>those ending in 7 are accepted, but the answer is lost: the caller sees 500 and must ask again with its key.
 * </ul>
 *
 * It does not deliver to Atlantis, and says so with 422.
 */
public final class PartnerServer implements AutoCloseable {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final PartnerBooks books = new PartnerBooks();
    private final Javalin server;

    /** Starts the server on a free port of 127.0.0.1. */
    public PartnerServer() {
        server = Javalin.create(config -> config.showJavalinBanner = false)
                .post("/partner/notices", this::notice)
                .start("127.0.0.1", 0);
    }

    /** Where notices go. */
    public URI notices() {
        return URI.create("http://127.0.0.1:" + server.port() + "/partner/notices");
    }

    public PartnerBooks books() {
        return books;
    }

    @Override
    public void close() {
        server.stop();
    }

    private void notice(Context request) throws IOException {
        String key = request.header(PartnerClient.KEY_HEADER);
        if (key == null || key.isBlank()) {
            request.status(400).result("The header " + PartnerClient.KEY_HEADER + " is missing");
            return;
        }
        JsonNode notice = MAPPER.readTree(request.bodyAsBytes());
        long order = notice.required("order").longValue();
        int call = books.call(order);
        if (notice.required("country").textValue().equals("Atlantis")) {
            request.status(422).result("No deliveries to Atlantis");
        } else if (order % 10 == 3 && call == 1) {
            request.status(503).header("Retry-After", "1").result("Busy, come back in a second");
        } else if (order % 10 == 3 && call == 2) {
            request.status(503).result("Still busy");
        } else {
            books.deliver(key, order);
            boolean answerIsLost = order % 10 == 7 && call == 1;
            request.status(answerIsLost ? 500 : 204).result(answerIsLost ? "Something broke after the delivery" : "");
        }
    }
}
