package io.rowlock.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Limits are checked, and each is switched off by itself. */
final class AlertLimitsTest {
    @Test
    void each_is_changed_and_switched_off_by_itself() {
        Duration hour = Duration.ofHours(1);
        AlertLimits limits = AlertLimits.none()
                .unknownKind(hour)
                .queueLag(hour)
                .snapshotPinned(hour)
                .clockSkew(hour)
                .workersLost(7);

        assertThat(limits).isEqualTo(new AlertLimits(hour, hour, hour, hour, 7));
        assertThat(limits.unknownKind(null)).isEqualTo(new AlertLimits(null, hour, hour, hour, 7));
        assertThat(limits.queueLag(null)).isEqualTo(new AlertLimits(hour, null, hour, hour, 7));
        assertThat(limits.snapshotPinned(null)).isEqualTo(new AlertLimits(hour, hour, null, hour, 7));
        assertThat(limits.clockSkew(null)).isEqualTo(new AlertLimits(hour, hour, hour, null, 7));
        assertThat(limits.workersLost(null)).isEqualTo(new AlertLimits(hour, hour, hour, hour, null));
    }

    @Test
    void what_is_out_of_range_is_refused() {
        AlertLimits limits = AlertLimits.standard();
        assertThatThrownBy(() -> limits.queueLag(Duration.ofMillis(999))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> limits.clockSkew(Duration.ofDays(366))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> limits.workersLost(0)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void every_cause_has_a_text_of_its_own() {
        assertThat(Arrays.stream(AlertCause.values()).map(AlertCause::text)).doesNotHaveDuplicates();
        assertThat(AlertCause.values())
                .allSatisfy(cause -> assertThat(AlertCause.of(cause.text())).contains(cause));
    }
}
