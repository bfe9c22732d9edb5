package io.rowlock.alert;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Posts alerts as JSON to a URL: {@code {"id", "cause", "kind", "count", "reason", "job", "first", "last"}}, with the delivery's
 * key as {@code Idempotency-Key}. Immutable: each method returns a changed copy. Safe for use by many threads.
 *
 * <p>Any answer of 200 to 299 is a success. 429 and 503 with {@code Retry-After} are tried again after that, a day at most;
 * these without, 408, 425, 500 and above, no answer in time and no connection as usual. Anything else, a redirect too, makes
 * the delivery a dead letter at once. What is answered is not read and not stored.
 */
public final class WebhookSink implements AlertSink {
    private static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(50);
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);
    private static final Set<Integer> TRY_AGAIN = Set.of(408, 425, 429);
    private static final String ALGORITHM = "HmacSHA256";

    private final HttpClient client;
    private final URI url;
    private final Duration timeout;
    private final byte @Nullable [] secret;

    private WebhookSink(HttpClient client, URI url, Duration timeout, byte @Nullable [] secret) {
        this.client = client;
        this.url = url;
        this.timeout = timeout;
        this.secret = secret;
    }

    /**
     * Posts to a URL, within 10 s, unsigned.
     *
     * @param url of http or https
     * @return a sink
     * @throws InvalidUseException if null or of another scheme
     */
    public static WebhookSink to(URI url) {
        boolean http = url != null
                && url.getScheme() != null
                && Set.of("http", "https").contains(url.getScheme());
        if (!http || url.getHost() == null) {
            throw new InvalidUseException("The URL of a webhook must be of http or https, got " + url);
        }
        HttpClient client = HttpClient.newBuilder()
                .connectTimeout(LONGEST_TIMEOUT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        return new WebhookSink(client, url, Duration.ofSeconds(10), null);
    }

    /**
     * Bounds how long an answer may take, from the first to its last byte.
     *
     * @param most 1 ms to 50 s
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public WebhookSink timeout(Duration most) {
        if (most == null || most.toMillis() < 1 || most.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new InvalidUseException("timeout must be between 1 ms and 50 s, got " + most);
        }
        return new WebhookSink(client, url, most, secret);
    }

    /**
     * Signs what is posted: {@code Rowlock-Signature: sha256=} and the HMAC in hexadecimal of the {@code Idempotency-Key}, a
     * dot, and the body.
     *
     * @param shared what the receiver knows too, in UTF-8; never logged
     * @return the changed copy
     * @throws InvalidUseException if null or empty
     */
    public WebhookSink secret(String shared) {
        if (shared == null || shared.isEmpty()) {
            throw new InvalidUseException("The secret of a webhook must not be null or empty");
        }
        return new WebhookSink(client, url, timeout, shared.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void tell(Alert alert, Delivery delivery) throws Exception {
        String body = AlertTexts.json(alert);
        HttpRequest.Builder request = HttpRequest.newBuilder(url)
                .timeout(timeout)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", delivery.key())
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (secret != null) {
            request.header("Rowlock-Signature", "sha256=" + signature(secret, delivery.key() + '.' + body));
        }
        judge(send(request.build()));
    }

    /** The request's own timeout ends with the headers; a body that never ends must end too. */
    private HttpResponse<Void> send(HttpRequest request) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<Void>> answer = client.sendAsync(request, BodyHandlers.discarding());
        try {
            return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("The webhook did not answer within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException("The webhook could not be reached: " + e.getCause(), e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private void judge(HttpResponse<Void> answer) throws IOException {
        int status = answer.statusCode();
        if (status >= 200 && status < 300) {
            return;
        }
        String reason = "The webhook answered " + status + " (host=" + url.getHost() + ")";
        Duration wait = status == 429 || status == 503 ? retryAfter(answer.headers()) : null;
        if (wait != null) {
            throw new RetryAfter(wait, reason);
        }
        if (status >= 500 || TRY_AGAIN.contains(status)) {
            throw new IOException(reason);
        }
        throw new PermanentFailure(reason + "; trying again cannot help");
    }

    /** In seconds, or a date, which is taken against the answer's own: this clock may differ from that one. */
    static @Nullable Duration retryAfter(HttpHeaders answer) {
        String value = answer.firstValue("Retry-After").orElse("").trim();
        try {
            Duration wait = value.matches("\\d{1,9}")
                    ? Duration.ofSeconds(Long.parseLong(value))
                    : Duration.between(
                            answer.firstValue("Date").map(WebhookSink::date).orElseGet(Instant::now), date(value));
            Duration positive = wait.isNegative() ? Duration.ZERO : wait;
            return positive.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : positive;
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    private static Instant date(String text) {
        return DateTimeFormatter.RFC_1123_DATE_TIME.parse(text, Instant::from);
    }

    private static String signature(byte[] secret, String text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(new SecretKeySpec(secret, ALGORITHM));
        return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    }
}
