package io.rowlock.testkit.postgres;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for something that nobody announces, such as the death of another process, by asking again every 10 ms. */
final class Waiting {

    private static final long PAUSE_MILLIS = 10;

    private Waiting() {}

    /**
     * Whether the condition came true within the limit. Interrupted: the flag stays set, and the answer is the
     * present one.
     */
    static boolean until(Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return condition.getAsBoolean();
            }
        }
        return true;
    }
}
