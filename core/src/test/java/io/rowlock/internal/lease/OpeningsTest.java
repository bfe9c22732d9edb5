package io.rowlock.internal.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P10")
final class OpeningsTest {
    @Test
    void three_at_once_and_one_more_when_one_has_ended() throws InterruptedException {
        Openings openings = new Openings(Duration.ofDays(1));
        for (Object each : new Object[] {"a", "b", "c"}) {
            assertThat(openings.begin(each, Duration.ZERO)).isTrue();
        }
        assertThat(openings.begin("d", Duration.ofMillis(5))).isFalse();
        openings.end("b");
        assertThat(openings.begin("d", Duration.ZERO)).isTrue();
    }

    @Test
    void those_that_hang_count_for_a_time_only_and_twenty_are_the_most() {
        Openings openings = new Openings(Duration.ofMillis(1));
        for (int i = 0; i < 20; i++) {
            Object each = i;
            soon().until(() -> openings.begin(each, Duration.ZERO));
        }
        soon().during(Duration.ofMillis(20)).until(() -> !openings.begin("one more", Duration.ZERO));
        openings.end(7);
        soon().until(() -> openings.begin("one more", Duration.ZERO));
    }
}
