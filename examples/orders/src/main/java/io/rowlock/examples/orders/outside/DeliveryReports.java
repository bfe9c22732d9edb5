package io.rowlock.examples.orders.outside;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Tells the shop by HTTP of each delivery, again and again until the shop has taken it. Safe for use by many threads. */
public final class DeliveryReports implements AutoCloseable {
    private static final long AGAIN_MILLIS = 200;

    private final HttpClient http = HttpClient.newHttpClient();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread daemon = new Thread(task, "delivery-reports");
        daemon.setDaemon(true);
        return daemon;
    });
    private final AtomicInteger open = new AtomicInteger();
    private volatile @Nullable URI shop;

    DeliveryReports() {}

    /** Says where the shop is; until then reports wait. */
    public void to(URI address) {
        shop = address;
    }

    /** Reports a delivery so many times. */
    public void tell(long order, int times) {
        open.addAndGet(times);
        for (int i = 0; i < times; i++) {
            thread.execute(() -> attempt(order));
        }
    }

    /** Whether the shop has taken all reports. */
    public boolean allTaken() {
        return open.get() == 0;
    }

    private void attempt(long order) {
        URI address = shop;
        if (address != null && taken(address.resolve("/orders/" + order + "/delivered"))) {
            open.decrementAndGet();
        } else if (!thread.isShutdown()) {
            Future<?> unused = thread.schedule(() -> attempt(order), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private boolean taken(URI address) {
        HttpRequest request = HttpRequest.newBuilder(address)
                .timeout(Duration.ofSeconds(10))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"at\": \"" + Instant.now() + "\"}"))
                .build();
        try {
            return http.send(request, BodyHandlers.discarding()).statusCode() / 100 == 2;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
