package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.engine.Planner.Plan;
import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.ClaimSql.Share;
import io.rowlock.worker.HandlerBinding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which lanes a claim scans, against a table of jobs that is only counted. */
final class PlannerTest {
    private final HandlerBinding<?> mail = FakeJobs.handler("mail", null);
    private final HandlerBinding<?> sms = FakeJobs.handler("sms", null);
    private final HandlerBinding<?> solo = FakeJobs.handler("solo", 1);
    private final Slots slots = new Slots(new LinkedHashMap<>(Map.of("a", 100, "b", 100)));
    private final Map<Lanes.Key, Integer> waiting = new HashMap<>();

    @Test
    void high_lanes_come_before_normal_and_normal_before_low() {
        Planner planner = planner("a", mail, sms);
        for (int turn = 0; turn < 5; turn++) {
            assertThat(planner.plan(Map.of("a", 10)).scans())
                    .extracting(LaneScan::priority)
                    .isSorted();
        }
    }

    @ParameterizedTest
    @Tag("P2")
    @ValueSource(ints = {1, 2, 3, 16, 40})
    void flooded_level_leaves_the_lower_ones_their_shares(int free) {
        Planner planner = planner("a", mail);
        flood("mail", 0);
        flood("mail", 1);
        flood("mail", 2);

        Map<Lanes.Key, Integer> gave = new HashMap<>();
        int claims = 1 + 16 * 20 / free;
        for (int i = 0; i < claims; i++) {
            claim(planner, "a", free).forEach((lane, n) -> gave.merge(lane, n, Integer::sum));
        }

        int all = gave.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(all).isEqualTo(claims * free);
        int dealt = all - free; // the first claim cannot know of the flood
        assertThat(gave.get(key("mail", 1))).isBetween(dealt * 3 / 16 - 3, dealt * 3 / 16 + 3);
        assertThat(gave.get(key("mail", 2))).isBetween(dealt / 16 - 1, dealt / 16 + 1);
    }

    @ParameterizedTest
    @Tag("P2")
    @CsvSource({"1, 1", "1, 2", "2, 1", "2, 2", "16, 1", "16, 2"})
    void one_job_of_a_lower_level_waits_for_a_bounded_number_of_claims(int free, int level) {
        Planner planner = planner("a", mail);
        flood("mail", 0);
        for (int round = 0; round < 40; round++) {
            waiting.put(key("mail", level), 1);
            int claims = 0;
            while (waiting.get(key("mail", level)) > 0) {
                claim(planner, "a", free);
                assertThat(++claims).isLessThan(1_000);
            }
            assertThat(claims).isBetween(1, 2 + (level == 1 ? 4 : 16) / free);
            claim(planner, "a", round % 5 + 1);
        }
    }

    @Test
    void share_that_nobody_uses_goes_to_the_others() {
        Planner planner = planner("a", mail);
        flood("mail", 0);

        for (int i = 0; i < 20; i++) {
            assertThat(claim(planner, "a", 16)).isEqualTo(Map.of(key("mail", 0), 16));
        }
    }

    @Test
    void flood_of_normal_jobs_alone_fills_every_claim() {
        Planner planner = planner("a", mail);
        flood("mail", 1);

        for (int i = 0; i < 20; i++) {
            assertThat(claim(planner, "a", 16)).isEqualTo(Map.of(key("mail", 1), 16));
        }
    }

    @Test
    void high_job_goes_before_a_flood_of_normal_ones() {
        Planner planner = planner("a", mail);
        flood("mail", 1);
        claim(planner, "a", 1);

        for (int i = 0; i < 20; i++) {
            waiting.put(key("mail", 0), 1);
            assertThat(claim(planner, "a", 1)).isEqualTo(Map.of(key("mail", 0), 1));
            assertThat(claim(planner, "a", 1)).isEqualTo(Map.of(key("mail", 1), 1));
        }
    }

    @Test
    void slots_left_over_by_high_jobs_go_to_normal_ones_before_low_ones() {
        Planner planner = planner("a", mail);
        flood("mail", 1);
        flood("mail", 2);
        waiting.put(key("mail", 0), 5);
        claim(planner, "a", 4);

        assertThat(claim(planner, "a", 7)).isEqualTo(Map.of(key("mail", 0), 1, key("mail", 1), 1));
        assertThat(claim(planner, "a", 7)).isEqualTo(Map.of(key("mail", 1), 7));
    }

    @Test
    @Tag("P2")
    void level_that_was_left_out_is_scanned_before_a_claim_gives_up() {
        Planner planner = planner("a", mail);
        waiting.put(key("mail", 0), 4);
        claim(planner, "a", 4);
        waiting.put(key("mail", 2), 1);

        assertThat(claim(planner, "a", 7)).isEqualTo(Map.of(key("mail", 2), 1));
    }

    @Test
    void several_lanes_of_a_level_have_its_share_together() {
        Planner planner = planner("a", mail, sms);
        for (String kind : List.of("mail", "sms")) {
            flood(kind, 0);
            flood(kind, 1);
        }
        claim(planner, "a", 16);

        for (int i = 0; i < 20; i++) {
            Map<Lanes.Key, Integer> gave = claim(planner, "a", 16);
            assertThat(gave.getOrDefault(key("mail", 1), 0) + gave.getOrDefault(key("sms", 1), 0))
                    .isEqualTo(3);
        }
    }

    @ParameterizedTest
    @Tag("P2")
    @ValueSource(ints = {1, 2, 16})
    void kinds_of_one_level_take_turns_whatever_share_it_has(int free) {
        Planner planner = planner("a", mail, sms, FakeJobs.handler("fax", null), FakeJobs.handler("post", null));
        for (int level = 0; level < 3; level++) {
            for (String kind : List.of("mail", "sms", "fax", "post")) {
                flood(kind, level);
            }
        }
        Map<Lanes.Key, Integer> gave = new HashMap<>();
        for (int i = 0; i < 16 * 12; i++) {
            claim(planner, "a", free).forEach((lane, n) -> gave.merge(lane, n, Integer::sum));
        }
        for (int level = 0; level < 3; level++) {
            int most = gave.get(key("mail", level));
            for (String kind : List.of("sms", "fax", "post")) {
                assertThat(gave.get(key(kind, level))).isBetween(most * 4 / 10, most * 5 / 2);
            }
        }
    }

    @Test
    void queue_without_free_slots_is_not_scanned() {
        Planner planner = planner("b", mail);

        assertThat(planner.plan(Map.of("b", 4)).shares())
                .extracting(Share::queue)
                .containsOnly("b");
    }

    @Test
    void handler_with_a_limit_never_scans_for_more_than_it_has_free() {
        HandlerBinding<?> seven = FakeJobs.handler("seven", 7);
        Planner planner = planner("b", seven, mail);
        flood("seven", 1);

        for (int turn = 0; turn < 20; turn++) {
            Plan plan = planner.plan(slots.free());
            assertThat(plan.scans().stream()
                            .filter(scan -> scan.kind().equals("seven"))
                            .mapToInt(LaneScan::most)
                            .sum())
                    .isBetween(1, 7);
            answer(planner, plan);
        }
    }

    @Test
    @Tag("P2")
    void every_lane_of_a_handler_with_a_small_limit_gets_its_turn() {
        Planner planner = planner("b", solo, mail);
        Set<Lanes.Key> scanned = new HashSet<>();

        for (int turn = 0; turn < 12; turn++) {
            planner.plan(slots.free()).scans().stream()
                    .filter(scan -> scan.kind().equals("solo"))
                    .forEach(scan -> scanned.add(Lanes.Key.of(scan)));
        }

        assertThat(scanned).as("two queues, three priorities").hasSize(6);
    }

    @ParameterizedTest
    @Tag("P2")
    @CsvSource({"1, 1", "1, 2", "16, 1", "16, 2"})
    void flooded_lane_of_a_handler_with_one_slot_leaves_the_others_their_turn(int free, int level) {
        Planner planner = planner("a", solo);
        flood("solo", 0);
        waiting.put(key("solo", level), 1);

        int claims = 0;
        while (waiting.get(key("solo", level)) > 0) {
            assertThat(claim(planner, "a", free).values()).allMatch(n -> n == 1);
            assertThat(++claims).isLessThan(1_000);
        }
        assertThat(claims).isLessThanOrEqualTo(2 * 16);
    }

    @Test
    @Tag("P2")
    void low_job_of_a_limited_handler_is_found_beside_a_flood_of_another_kind() {
        for (int others = 1; others < 6; others++) {
            List<HandlerBinding<?>> handlers = new ArrayList<>(List.of(solo));
            for (int i = 0; i < others; i++) {
                handlers.add(FakeJobs.handler("other" + i, i % 2 == 0 ? null : 2));
                flood("other" + i, 0);
            }
            Planner planner = planner("a", handlers.toArray(HandlerBinding<?>[]::new));
            flood("solo", 0);
            waiting.put(key("solo", 2), 1);

            int claims = 0;
            while (waiting.get(key("solo", 2)) > 0) {
                claim(planner, "a", 1);
                assertThat(++claims).isLessThan(16 * 16 * (others + 1));
            }
        }
    }

    @Test
    void flooded_high_lane_of_a_handler_with_several_slots_has_most_of_them() {
        Planner planner = planner("a", FakeJobs.handler("eight", 8));
        for (int level = 0; level < 3; level++) {
            flood("eight", level);
        }
        Map<Lanes.Key, Integer> gave = new HashMap<>();
        for (int i = 0; i < 161; i++) {
            claim(planner, "a", 16).forEach((lane, n) -> gave.merge(lane, n, Integer::sum));
        }
        assertThat(gave.get(key("eight", 0))).isGreaterThanOrEqualTo(160 * 8 * 11 / 16);
        assertThat(gave.get(key("eight", 1))).isGreaterThanOrEqualTo(160 * 8 * 2 / 16);
        assertThat(gave.get(key("eight", 2))).isGreaterThanOrEqualTo(160 * 8 / 2 / 16);
    }

    private Planner planner(String queue, HandlerBinding<?>... handlers) {
        Set<String> queues = queue.equals("a") ? Set.of("a") : Set.of("a", queue);
        return new Planner(new Lanes(queues, List.of(handlers)), slots);
    }

    private static Lanes.Key key(String kind, int level) {
        return new Lanes.Key("a", kind, level);
    }

    private void flood(String kind, int level) {
        waiting.put(key(kind, level), Integer.MAX_VALUE);
    }

    /** Claims as the engine does: what was passed over, too, if nothing was due. */
    private Map<Lanes.Key, Integer> claim(Planner planner, String queue, int free) {
        Plan plan = planner.plan(Map.of(queue, free));
        Map<Lanes.Key, Integer> gave = answer(planner, plan);
        while (gave.isEmpty() && plan.passedOver()) {
            plan = planner.planPassedOver(Map.of(queue, free));
            gave = answer(planner, plan);
        }
        return gave;
    }

    /** Does what the statement does. */
    private Map<Lanes.Key, Integer> answer(Planner planner, Plan plan) {
        Map<Lanes.Key, Integer> gave = new HashMap<>();
        List<ClaimedRow> rows = new ArrayList<>();
        Map<String, Integer> free = new HashMap<>(plan.free());
        for (Share share : plan.shares()) {
            int left = Math.min(share.most(), free.get(share.queue()));
            for (LaneScan scan : share.lanes()) {
                Lanes.Key key = Lanes.Key.of(scan);
                int n = Math.min(left, Math.min(scan.most(), waiting.getOrDefault(key, 0)));
                left -= n;
                free.merge(share.queue(), -n, Integer::sum);
                waiting.computeIfPresent(key, (same, had) -> had == Integer.MAX_VALUE ? had : had - n);
                for (int i = 0; i < n; i++) {
                    rows.add(FakeJobs.row(key.queue(), key.kind(), key.priority(), FakeJobs.NOON));
                    gave.merge(key, 1, Integer::sum);
                }
            }
        }
        planner.answered(plan, new Claimed(FakeJobs.NOON, rows));
        return gave;
    }
}
