package io.rowlock.examples.orders.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The customers: sends orders to the shop by HTTP, one after another, and remembers the answers. For one thread. */
final class OrderSender {
    private static final Duration CALL_LIMIT = Duration.ofSeconds(30);

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(CALL_LIMIT).build();
    private final JsonMapper mapper = new JsonMapper();
    private final URI orders;
    private final Map<Long, BigDecimal> accepted = new HashMap<>();
    private final List<Long> refused = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    OrderSender(int shopPort) {
        orders = URI.create("http://127.0.0.1:" + shopPort + "/orders");
    }

    void send(OrderFile.Entry entry) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(orders)
                .timeout(CALL_LIMIT)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(entry.json()))
                .build();
        try {
            note(entry, http.send(request, BodyHandlers.ofString()));
        } catch (IOException e) {
            failures.add("line " + entry.line() + ": no answer: " + e);
        }
    }

    private void note(OrderFile.Entry entry, HttpResponse<String> answer) throws IOException {
        int status = answer.statusCode();
        JsonNode placed = status == 201 ? mapper.readTree(answer.body()) : MissingNode.getInstance();
        if (placed.path("order").longValue() == entry.number()) {
            accepted.put(entry.number(), new BigDecimal(placed.path("total").asText()));
        } else if (status == 409 || status == 422) {
            refused.add(entry.number());
        } else {
            failures.add("line " + entry.line() + ": answered " + status + ": " + answer.body());
        }
    }

    int refusedSoFar() {
        return refused.size();
    }

    Answers answers() {
        return new Answers(accepted, refused, failures);
    }

    /**
     * What the shop answered.
     *
     * @param accepted the orders that were answered 201, and what they come to
     * @param refused the numbers of those that a rule forbade; a duplicate's number stands in accepted too
     * @param failures orders that were neither, so that nobody knows what became of them
     */
    record Answers(Map<Long, BigDecimal> accepted, List<Long> refused, List<String> failures) {
        Answers {
            accepted = Map.copyOf(accepted);
            refused = List.copyOf(refused);
            failures = List.copyOf(failures);
        }
    }
}
