package io.rowlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EarliestByLaneTest {
    private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");

    private final EarliestByLane earliest = new EarliestByLane();

    @Test
    void of_each_lane_the_earliest_stays() {
        Enqueued first = job(1, "mail", Priority.NORMAL, 5, false);
        Enqueued earlier = job(2, "mail", Priority.NORMAL, 3, false);
        Enqueued later = job(3, "mail", Priority.NORMAL, 4, false);
        Enqueued urgent = job(4, "mail", Priority.HIGH, 9, false);
        Enqueued other = job(5, "other", Priority.NORMAL, 9, false);
        earliest.add(List.of(first, earlier));
        earliest.add(List.of(later, urgent, other));

        assertThat(earliest.lanes()).isEqualTo(3);
        assertThat(earliest.take()).containsExactlyInAnyOrder(earlier, urgent, other);
        assertThat(earliest.take()).isEmpty();
    }

    @Test
    void jobs_with_keys_are_told_beside_those_without() {
        Enqueued free = job(1, "mail", Priority.NORMAL, 1, false);
        Enqueued keyed = job(2, "mail", Priority.NORMAL, 2, true);
        earliest.add(List.of(free, keyed));

        assertThat(earliest.take()).containsExactlyInAnyOrder(free, keyed);
    }

    private static Enqueued job(long id, String kind, Priority priority, int second, boolean keyed) {
        return new Enqueued(id, kind, "default", priority, AT.plusSeconds(second), keyed, false);
    }
}
