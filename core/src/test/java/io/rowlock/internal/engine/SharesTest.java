package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("P2")
final class SharesTest {
    private static final List<Integer> FLOOD = flood();
    private final Shares<String> shares = new Shares<>();

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 16})
    void of_sixteen_slots_high_has_twelve_normal_three_and_low_one_however_many_are_free_at_once(int free) {
        int[] sum = new int[3];
        for (int i = 0; i < 16; i++) {
            int[] next = shares.next("default", free);
            for (int level = 0; level < 3; level++) {
                sum[level] += next[level];
            }
        }
        assertThat(sum).containsExactly(12 * free, 3 * free, free);
    }

    @Test
    void each_owner_is_dealt_to_by_itself() {
        shares.next("other", 15);

        assertThat(shares.next("default", 1)).containsExactly(1, 0, 0);
        assertThat(shares.next("other", 1)).containsExactly(0, 0, 1);
    }

    @Test
    void slot_that_a_level_has_no_use_for_goes_to_the_highest_that_has() {
        assertThat(shares.inOrder("default", List.of(2, 2, 1, 2), level -> level))
                .containsExactly(1, 2, 2, 2);
    }

    @Test
    void things_of_one_level_keep_their_order() {
        List<String> order = shares.inOrder(
                "default", List.of("2a", "0a", "2b", "0b", "0c", "0d", "1a"), thing -> thing.charAt(0) - '0');

        assertThat(order).containsExactly("0a", "0b", "0c", "1a", "0d", "2a", "2b");
    }

    @Test
    void single_slots_are_dealt_on_from_where_the_last_ones_ended() {
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            shares.give("default", FLOOD, level -> level, 1, taken::add);
        }
        assertThat(taken).containsExactly(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2);
    }

    @Test
    void what_takes_no_slot_stands_in_nobodys_way() {
        List<Integer> taken = new ArrayList<>();

        shares.give("default", FLOOD, level -> level, 16, level -> level != 0 && taken.add(level));

        assertThat(taken).hasSize(16).startsWith(1, 1);
        assertThat(taken).contains(2);
    }

    private static List<Integer> flood() {
        List<Integer> all = new ArrayList<>(Collections.nCopies(20, 0));
        all.addAll(Collections.nCopies(20, 1));
        all.addAll(Collections.nCopies(20, 2));
        return all;
    }
}
