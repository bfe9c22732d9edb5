package io.rowlock.examples.orders.fulfilment;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Calls to a service outside, each with an idempotency key. What an answer means for the step is decided in {@link
 * #judge}; no answer at all is an {@link IOException}, by which the saga knows that the call may have had its effect.
 */
public final class KeyedHttp {
    /** The header with the idempotency key. */
    public static final String KEY_HEADER = "Idempotency-Key";

    private static final Duration CALL_LIMIT = Duration.ofSeconds(4);
    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    /** Timeout, conflict with a call still running, too early, too many: refusals that may pass. */
    private static final Set<Integer> PASSING = Set.of(408, 409, 425, 429);

    private static final JsonMapper MAPPER = new JsonMapper();

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(CALL_LIMIT).build();
    private final URI service;

    KeyedHttp(URI service) {
        this.service = service;
    }

    /** Posts something; answers the number that the service gave it. */
    String post(String path, String key, Object body) throws IOException, InterruptedException {
        HttpRequest.Builder request = request(path, key).header("Content-Type", "application/json");
        return judge(send(request.POST(BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(body)))));
    }

    /** Undoes what was posted under the key. */
    void delete(String path, String key) throws IOException, InterruptedException {
        judge(send(request(path, key).DELETE()));
    }

    private HttpRequest.Builder request(String path, String key) {
        return HttpRequest.newBuilder(service.resolve(path)).timeout(CALL_LIMIT).header(KEY_HEADER, key);
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    /** Returns for success; throws what makes Rowlock retry by the policy, retry when told, or give up at once. */
    private static String judge(HttpResponse<String> answer) throws IOException {
        int status = answer.statusCode();
        if (status / 100 == 2) {
            return answer.body();
        }
        String reason = answer.request().uri().getPath() + " answered " + status + ": " + answer.body();
        Optional<Duration> wait = retryAfter(answer);
        if (wait.isPresent() && (status == 429 || status == 503)) {
            throw new RetryAfter(wait.get(), reason);
        }
        if (status / 100 == 4 && !PASSING.contains(status)) {
            throw new PermanentFailure(reason);
        }
        throw new IOException(reason);
    }

    /** The header as a number of seconds; as a date, which HTTP allows too, it is left to the policy. */
    private static Optional<Duration> retryAfter(HttpResponse<?> answer) {
        return answer.headers()
                .firstValue("Retry-After")
                .filter(text -> text.matches("\\d{1,9}"))
                .map(text -> Duration.ofSeconds(Long.parseLong(text)))
                .map(wait -> wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait);
    }
}
