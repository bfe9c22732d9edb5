package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.internal.engine.Planner.Plan;
import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.worker.HandlerBinding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The invariants written in the essay of {@link Lanes}. */
final class LanesTest {
    private static final Instant NOON = FakeJobs.NOON;
    private static final Duration SLACK = Duration.ofSeconds(5);
    private static final Lanes.Key MAIL = new Lanes.Key("default", "mail", 1);

    private final HandlerBinding<?> mail = FakeJobs.handler("mail", null, "post");
    private final Slots slots = new Slots(Map.of("default", 10));
    private final Lanes lanes = new Lanes(Set.of("default"), List.of(mail));
    private final Planner planner = new Planner(lanes, slots);

    @Test
    void there_is_a_lane_for_each_queue_name_and_priority() {
        Lanes two = new Lanes(Set.of("a", "b"), List.of(mail, FakeJobs.handler("sms", null)));

        assertThat(two.all())
                .extracting(Lanes.Lane::key)
                .doesNotHaveDuplicates()
                .hasSize(2 * 3 * 3);
        assertThat(two.binding(FakeJobs.row("b", "post", 2, NOON))).isSameAs(mail);
    }

    @Test
    @Tag("P12")
    void a_row_of_a_foreign_lane_is_refused() {
        assertThatThrownBy(() -> lanes.binding(FakeJobs.row("default", "sms", 1, NOON)))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> lanes.binding(FakeJobs.row("other", "mail", 1, NOON)))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_lane_is_scanned_from_its_beginning_until_something_is_known() {
        assertThat(plan(10).scans()).allSatisfy(scan -> assertThat(scan.since()).isNull());
    }

    @Test
    void a_scan_that_came_back_short_moves_the_watermark_to_the_statements_time_less_the_slack() {
        planner.answered(plan(10), new Claimed(NOON, rows(3, NOON.minusSeconds(60))));

        assertThat(since(MAIL)).isEqualTo(NOON.minus(SLACK));
    }

    @Test
    void a_scan_that_came_back_full_moves_the_watermark_to_its_last_row_only() {
        planner.answered(plan(3), new Claimed(NOON, rows(3, NOON.minusSeconds(60))));

        assertThat(since(MAIL)).isEqualTo(NOON.minusSeconds(60).plusSeconds(2).minus(SLACK));
    }

    @Test
    @Tag("P2")
    void a_lane_that_was_cut_by_the_queues_limit_without_a_row_keeps_its_watermark() {
        List<ClaimedRow> high = new ArrayList<>();
        high.add(FakeJobs.row("default", "mail", 0, NOON.minusSeconds(9)));
        high.add(FakeJobs.row("default", "mail", 0, NOON.minusSeconds(8)));

        planner.answered(plan(2), new Claimed(NOON, high));

        assertThat(since(MAIL)).as("the scan may never have come to it").isNull();
    }

    @Test
    void the_watermark_never_goes_back_by_a_claim() {
        planner.answered(plan(10), new Claimed(NOON, List.of()));
        planner.answered(plan(10), new Claimed(NOON.minusSeconds(30), List.of()));
        planner.answered(plan(1), new Claimed(NOON, rows(1, NOON.minusSeconds(300))));

        assertThat(since(MAIL)).isEqualTo(NOON.minus(SLACK));
    }

    @Test
    @Tag("P2")
    void a_wake_up_lowers_the_watermark_of_its_lane_and_no_other() {
        planner.answered(plan(10), new Claimed(NOON, List.of()));

        lanes.lower(List.of(enqueued("mail", NOON.minusSeconds(300)), enqueued("foreign", NOON.minusSeconds(900))));

        assertThat(since(MAIL)).isEqualTo(NOON.minusSeconds(300).minus(SLACK));
        assertThat(since(new Lanes.Key("default", "post", 1))).isEqualTo(NOON.minus(SLACK));
        assertThat(since(new Lanes.Key("default", "mail", 0))).isEqualTo(NOON.minus(SLACK));
    }

    @Test
    void a_wake_up_never_raises_a_watermark() {
        lanes.lower(List.of(enqueued("mail", NOON)));
        assertThat(since(MAIL)).as("still from its beginning").isNull();

        planner.answered(plan(10), new Claimed(NOON, List.of()));
        lanes.lower(List.of(enqueued("mail", NOON.plusSeconds(60))));
        assertThat(since(MAIL)).isEqualTo(NOON.minus(SLACK));
    }

    @Test
    @Tag("P2")
    void a_wake_up_during_a_claim_is_not_forgotten_when_the_claim_answers() {
        planner.answered(plan(10), new Claimed(NOON, List.of()));
        Plan sent = plan(10);

        lanes.lower(List.of(enqueued("mail", NOON.minusSeconds(300))));
        planner.answered(sent, new Claimed(NOON.plusSeconds(1), List.of()));

        assertThat(since(MAIL)).isEqualTo(NOON.minusSeconds(300).minus(SLACK));
    }

    @Test
    @Tag("P2")
    void a_first_claim_that_overlaps_a_late_commit_leaves_its_lane_to_be_scanned_from_the_beginning() {
        Plan sent = plan(10);

        lanes.lower(List.of(enqueued("mail", NOON.minusSeconds(300))));
        planner.answered(sent, new Claimed(NOON, List.of()));

        assertThat(since(MAIL)).isIn(null, NOON.minusSeconds(300).minus(SLACK));
    }

    private Plan plan(int free) {
        return planner.plan(Map.of("default", free));
    }

    private Instant since(Lanes.Key key) {
        return lanes.since(lanes.all().stream()
                .filter(lane -> lane.key().equals(key))
                .findFirst()
                .orElseThrow());
    }

    private static List<ClaimedRow> rows(int n, Instant from) {
        List<ClaimedRow> rows = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            rows.add(FakeJobs.row("default", "mail", 1, from.plusSeconds(i)));
        }
        return rows;
    }

    private static Enqueued enqueued(String kind, Instant runAt) {
        return new Enqueued(1, kind, "default", Priority.NORMAL, runAt, false, false);
    }
}
