package io.rowlock.benchmark.load;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The time of day, which all processes of a machine share. */
final class Micros {
    private Micros() {}

    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
