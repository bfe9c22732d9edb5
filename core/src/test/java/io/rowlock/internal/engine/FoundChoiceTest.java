package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.engine.Sweeper.Found;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P2")
final class FoundChoiceTest {
    private final Lanes lanes =
            new Lanes(Set.of("default"), List.of(FakeJobs.handler("mail", null), FakeJobs.handler("solo", 1)));
    private long ids;

    @Test
    void late_high_jobs_leave_low_ones_their_share() {
        Map<String, Integer> free = Map.of("default", 1);
        FoundChoice choice = new FoundChoice(new Slots(free));
        Found low = found("mail", 2, false);
        int claims = 0;
        List<Found> chosen = List.of();
        while (!chosen.contains(low)) {
            List<Found> all = new ArrayList<>(found(100, "mail", 0, false));
            all.add(low);
            chosen = choice.choose(all, free);
            assertThat(chosen).hasSize(1);
            assertThat(++claims).isLessThan(1_000);
        }
        assertThat(claims).isEqualTo(Shares.ROUND);
    }

    @Test
    @Tag("P6")
    void one_suspect_is_chosen_and_lanes_of_suspects_take_turns() {
        Map<String, Integer> free = Map.of("default", 10);
        FoundChoice choice = new FoundChoice(new Slots(free));
        Found other = found("solo", 0, true);
        List<Found> all = new ArrayList<>(found(100, "mail", 0, true));
        all.add(other);

        assertThat(choice.choose(all, free)).hasSize(1).doesNotContain(other);
        assertThat(choice.choose(all, free)).containsExactly(other);
    }

    @Test
    void no_more_are_chosen_than_slots_are_free() {
        Map<String, Integer> free = Map.of("default", 5);
        FoundChoice choice = new FoundChoice(new Slots(free));
        List<Found> all = new ArrayList<>(found(3, "solo", 0, false));
        all.addAll(found(10, "mail", 1, false));
        all.addAll(found(10, "mail", 1, true));

        assertThat(choice.choose(all, free))
                .hasSize(5)
                .filteredOn(Found::suspect)
                .hasSize(1);
        assertThat(choice.choose(all, free))
                .filteredOn(row -> row.lane().key().kind().equals("solo"))
                .hasSize(1);
    }

    private List<Found> found(int n, String kind, int level, boolean suspect) {
        List<Found> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(found(kind, level, suspect));
        }
        return all;
    }

    private Found found(String kind, int level, boolean suspect) {
        Lanes.Lane lane = lanes.lane(new Lanes.Key("default", kind, level));
        assertThat(lane).isNotNull();
        return new Found(++ids, lane, suspect);
    }
}
