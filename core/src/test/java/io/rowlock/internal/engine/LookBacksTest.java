package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P2")
final class LookBacksTest {
    private final LookBacks lookBacks = new LookBacks();

    @Test
    void the_first_claim_looks_back() {
        assertThat(lookBacks.isDue(System.nanoTime())).isTrue();
    }

    @Test
    void a_look_back_that_takes_long_is_followed_by_a_pause_twenty_times_as_long() {
        lookBacks.done(TimeUnit.SECONDS.toNanos(1));
        assertThat(lookBacks.isDue(System.nanoTime() + TimeUnit.SECONDS.toNanos(10)))
                .isFalse();
        assertThat(lookBacks.isDue(System.nanoTime() + TimeUnit.SECONDS.toNanos(21)))
                .isTrue();
    }

    @Test
    void a_claim_that_did_not_look_back_and_found_no_more_owes_one() {
        lookBacks.done(0);
        assertThat(lookBacks.pause(System.nanoTime())).isEqualTo(Long.MAX_VALUE);
        lookBacks.owe();
        assertThat(lookBacks.pause(System.nanoTime())).isBetween(0L, TimeUnit.MILLISECONDS.toNanos(100));
        lookBacks.done(0);
        assertThat(lookBacks.pause(System.nanoTime())).isEqualTo(Long.MAX_VALUE);
    }
}
