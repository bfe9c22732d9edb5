package io.rowlock.examples.orders.partner;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.rowlock.examples.orders.order.PartnerNotice;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobHandler;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Does the {@code partner-notice} jobs: tells the partner by HTTP, with the job's idempotency key, so that the partner
 * can tell a repeated call from a second order. What the answer means for the job is decided in {@link #judge}.
 */
public final class PartnerClient implements JobHandler<PartnerNotice> {
    /** The header with the job's idempotency key. */
    public static final String KEY_HEADER = "Idempotency-Key";

    private static final Duration CALL_LIMIT = Duration.ofSeconds(10);
    private static final Duration LONGEST_WAIT = Duration.ofHours(1);

    /** Timeout, conflict with a call still running, too early, too many: refusals that may pass. */
    private static final Set<Integer> PASSING = Set.of(408, 409, 425, 429);

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .build();

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(CALL_LIMIT).build();
    private final URI notices;

    /** A client of the partner whose notices go to this address. */
    public PartnerClient(URI notices) {
        this.notices = notices;
    }

    @Override
    public void handle(PartnerNotice notice, JobContext job) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(notices)
                .timeout(CALL_LIMIT)
                .header("Content-Type", "application/json")
                .header(KEY_HEADER, job.idempotencyKey())
                .POST(HttpRequest.BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(notice)))
                .build();
        judge(http.send(request, BodyHandlers.ofString()));
    }

    /** Returns for success; throws what makes Rowlock retry by the policy, retry when told, or give up at once. */
    private static void judge(HttpResponse<String> answer) throws IOException {
        int status = answer.statusCode();
        if (status / 100 == 2) {
            return;
        }
        String reason = "Partner answered " + status + ": " + answer.body();
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
